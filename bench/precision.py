#!/usr/bin/env python3
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Measures what each precision of the state costs, for docs/precision.md.

Runs `holdfast eval` over 60 kB of English, each precision beside bf16, and
replaces the page's tables and its plot. The figures depend on the model file,
the text and the code alone: a second run changes nothing.
"""

import argparse
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/oracle"))

import holdfast_cli  # noqa: E402
import perplexity  # noqa: E402
import precision_plot  # noqa: E402

PAGE = ROOT / "docs/precision.md"
PLOT = ROOT / "docs/precision.svg"

# A table's name: tokens of a window, what is measured.
TABLES = {
    "precisions": (512, (
        "q8g32 q8 t8 q6 q5 t5 q4 t4 q3 t3 q2 t2 t8/t4 q8/t3 t8/t3").split()),
    "sides": (512, (
        "q4/bf16 t4/bf16 bf16/q4 bf16/t4 q3/bf16 t3/bf16 bf16/q3 bf16/t3").split()),
}


def significant(value):
    """Three digits: 0.00012, 0.0347, 1.57."""
    return f"{value:#.3g}".rstrip(".") if value >= 1e-5 else f"{value:.1e}"


def table(rows):
    """Markdown of what eval found, the reference first."""
    against = rows[0]["against"]
    lines = [
        "| `--kv` | bytes a token | of bf16 | perplexity | KL mean | KL 99.9 % | KL largest | same top |",
        "|---|---|---|---|---|---|---|---|",
        f"| `{against['kv']}` | {against['bytes_per_token']} | 100 % | "
        f"{against['ppl']:.3f} | | | | |",
    ]
    for row in rows:
        kl = row["kl"]
        share = 100 * row["bytes_per_token"] / against["bytes_per_token"]
        lines.append(
            f"| `{row['kv']}` | {row['bytes_per_token']} | {share:.1f} % | {row['ppl']:.3f} | "
            f"{significant(kl['mean'])} | {significant(kl['p999'])} | {significant(kl['max'])} | "
            f"{100 * row['top1']:.2f} % |")
    return "\n".join(lines)


def replaced(page, name, text):
    """The page with other lines between a table's two comments."""
    begin, end = f"<!-- {name}: bench/precision.py -->\n", f"<!-- end of {name} -->"
    head, found, rest = page.partition(begin)
    _, closed, tail = rest.partition(end)
    assert found and closed, f"{PAGE}: no table {name}"
    return f"{head}{begin}{text}\n{end}{tail}"


def caption(context, rows):
    return (f"Windows of {context} tokens, {rows[0]['tokens']} scored tokens in "
            f"{rows[0]['windows']} windows.\n\n")


class Eval:
    """Runs `holdfast eval`; what it printed may be kept and found again."""

    AT_ONCE = 6  # precisions beside one run of the reference

    def __init__(self, options):
        self.options = options
        self.folder = options.keep
        if self.folder:
            self.folder.mkdir(parents=True, exist_ok=True)

    def kept(self, context, kv):
        return self.folder / f"{context}-{kv.replace('/', '-')}.json"

    def rows(self, context, choices):
        found = {}
        if self.folder:
            found = {kv: json.loads(self.kept(context, kv).read_text(encoding="utf-8"))
                     for kv in choices if self.kept(context, kv).exists()}
        missing = [kv for kv in choices if kv not in found]
        for i in range(0, len(missing), self.AT_ONCE):
            for row in self.measure(context, missing[i:i + self.AT_ONCE]):
                found[row["kv"]] = row
                if self.folder:
                    self.kept(context, row["kv"]).write_text(json.dumps(row), encoding="utf-8")
        return [found[kv] for kv in choices]

    def measure(self, context, choices):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "text.txt")
            path.write_text(perplexity.text(), encoding="utf-8")
            return holdfast_cli.run(
                self.options.binary, "eval", "-m", self.options.model, "-f", path,
                "--context", context, *(word for kv in choices for word in ("--kv", kv)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER",
                        help="keep what was measured here, and do not measure that again")
    parser.add_argument("tables", nargs="*", help=f"of {', '.join(TABLES)} (default: all)")
    options = parser.parse_args()
    evaluation = Eval(options)
    for name in options.tables or TABLES:
        context, choices = TABLES[name]
        rows = evaluation.rows(context, choices)
        page = PAGE.read_text(encoding="utf-8")
        text = caption(context, rows) + table(rows)
        PAGE.write_text(replaced(page, name, text), encoding="utf-8")
        if name == "precisions":
            PLOT.write_text(precision_plot.svg(rows), encoding="utf-8")
        print(f"{name}\n{text}\n")


if __name__ == "__main__":
    main()
