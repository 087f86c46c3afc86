# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""The plot of docs/precision.md: divergence over bytes a token, as SVG."""

import math

WIDTH, HEIGHT = 840, 520
LEFT, RIGHT, TOP, BOTTOM = 84, 24, 56, 64
INK, FAINT, PAPER = "#1f2328", "#d8dce1", "#ffffff"
# Name, colour, shape of its points, joined by a line.
SERIES = {
    "affine, groups of 64": ("#2166ac", "circle", True),
    "affine, groups of 32": ("#7fb3dd", "circle", False),
    "turbo": ("#c2410c", "square", True),
    "keys and values apart": ("#6b7280", "diamond", False),
}


def series_of(kv):
    if "/" in kv:
        return "keys and values apart"
    if kv.startswith("t"):
        return "turbo"
    return "affine, groups of 32" if "g" in kv else "affine, groups of 64"


def text(x, y, words, anchor="middle", size=12, colour=INK, more=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'fill="{colour}"{more}>{words}</text>')


def line(x1, y1, x2, y2, colour, width=1.0):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'stroke="{colour}" stroke-width="{width}"/>')


def mark(x, y, colour, shape):
    edge = f'fill="{colour}" stroke="{PAPER}" stroke-width="1.5"'
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" {edge}/>'
    turn = f' transform="rotate(45 {x:.1f} {y:.1f})"' if shape == "diamond" else ""
    return f'<rect x="{x - 4.5:.1f}" y="{y - 4.5:.1f}" width="9" height="9" {edge}{turn}/>'


class Axes:
    """Bytes a token along x, the logarithm of the divergence along y."""

    def __init__(self, rows):
        most = max(row["bytes_per_token"] for row in rows)
        self.step = 10 ** math.floor(math.log10(most / 2))
        self.right = self.step * (math.floor(most / self.step) + 1)
        means = [math.log10(row["kl"]["mean"]) for row in rows]
        self.low, self.high = math.floor(min(means)), math.ceil(max(means))

    def x(self, size):
        return LEFT + (WIDTH - LEFT - RIGHT) * size / self.right

    def y(self, mean):
        part = (math.log10(mean) - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * part

    def draw(self):
        foot = HEIGHT - BOTTOM
        for decade in range(self.low, self.high + 1):
            y = self.y(10.0**decade)
            yield line(LEFT, y, WIDTH - RIGHT, y, FAINT)
            yield text(LEFT - 8, y + 4, f"{10.0**decade:g}", "end")
        for i in range(round(self.right / self.step) + 1):
            x = self.x(i * self.step)
            yield line(x, foot, x, foot + 5, INK)
            yield text(x, foot + 20, f"{i * self.step:,}".replace(",", " "))
        yield line(LEFT, foot, WIDTH - RIGHT, foot, INK)
        yield text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 20, "bytes a token, all layers")
        middle = (TOP + foot) / 2
        yield text(22, middle, "mean KL divergence from bf16 (nats)",
                   more=f' transform="rotate(-90 22 {middle:.1f})"')


class Labels:
    """Names beside their points: the first place that is free."""

    def __init__(self, points):
        self.taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in points]

    def place(self, x, y, words):
        wide = 7.0 * len(words)
        for dx, dy in ((9, 4), (-9 - wide, 4), (-wide / 2, -10), (-wide / 2, 19),
                       (9, -8), (9, 16), (-9 - wide, -8), (-9 - wide, 16), (9, 28)):
            box = (x + dx, y + dy - 10, x + dx + wide, y + dy + 2)
            if not any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3]
                       for b in self.taken):
                break
        self.taken.append(box)
        return box[0], box[3] - 2


def legend():
    x = LEFT
    for name, (colour, shape, _) in SERIES.items():
        yield mark(x + 6, 40, colour, shape)
        yield text(x + 17, 44, name, "start")
        x += 40 + 6.3 * len(name)


def svg(rows):
    """rows: what `holdfast eval --json` printed, each with its divergence."""
    axes = Axes(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" font-family="Helvetica, Arial, sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{PAPER}"/>',
        text(LEFT, 22, "What a precision of the state costs", "start", 15),
        *legend(), *axes.draw()]
    points = {row["kv"]: (axes.x(row["bytes_per_token"]), axes.y(row["kl"]["mean"]))
              for row in rows}
    labels = Labels(points.values())
    for name, (colour, shape, joined) in SERIES.items():
        mine = {kv: at for kv, at in points.items() if series_of(kv) == name}
        if joined:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in sorted(mine.values()))
            parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                         'stroke-width="2"/>')
        for kv, (x, y) in mine.items():
            parts.append(mark(x, y, colour, shape))
            parts.append(text(*labels.place(x, y, kv), kv, "start", 11, colour))
    return "\n".join([*parts, "</svg>"]) + "\n"
