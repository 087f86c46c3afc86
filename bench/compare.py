#!/usr/bin/env python3
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Measures holdfast beside llama.cpp: same file, same threads, turn by turn.

Rounds alternate between the two, so that a busy neighbour hits both; each figure
is the median of its rounds, with the lowest and the highest behind it. llama.cpp
runs with flash attention and its f16 state, holdfast with its defaults, unless a
case names other precisions of the state.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys


@dataclasses.dataclass
class Case:
    name: str
    prompt: int = 0  # tokens prefilled and timed
    generate: int = 0  # tokens decoded and timed
    depth: int = 0  # tokens that are there before
    batch: int = 1  # sequences at once
    kv: tuple[str, str] = ("bf16", "f16")  # precision of the state, ours and the peer's
    wanted: float = 1.0  # the ratio that we ask for
    minutes: bool = False  # takes minutes a round: only where it is asked for


CASES = [
    Case("prefill 512", prompt=512, wanted=5),
    Case("prefill 2048", prompt=2048, wanted=5),
    Case("decode", generate=64, wanted=2),
    Case("decode at 8192", generate=32, depth=8192, wanted=2.5),
    Case("decode, 8 at once", generate=32, depth=256, batch=8, wanted=4),
    Case("decode at 32000", generate=32, depth=32000, wanted=2.5, minutes=True),
    Case("decode at 32000, q4", generate=32, depth=32000, kv=("q4", "q4_0"), wanted=4,
         minutes=True),
]


def run(command):
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True,
        errors="replace", stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n"
                 + done.stderr[-2000:])
    return done.stdout


class Holdfast:
    name = "holdfast"

    def __init__(self, options):
        self.command = [options.binary, "bench", "model", "-m", options.model,
                        "--threads", options.threads, "--json"]

    def measure(self, case):
        """tokens a second, all sequences together"""
        out = run(self.command + [
            "--prompt", case.prompt, "--gen", case.generate, "--depth", case.depth,
            "--batch", case.batch, "--kv", case.kv[0]])
        result = json.loads(out.splitlines()[-1])
        return result["prefill_tok_s" if case.prompt else "decode_tok_s"]


class Llama:
    name = "llama.cpp"

    def __init__(self, options):
        self.folder = options.llama
        self.common = ["-m", options.model, "-t", options.threads]

    def measure(self, case):
        if case.batch == 1:
            out = run([self.folder / "llama-bench"] + self.common + [
                "-fa", 1, "-ctk", case.kv[1], "-ctv", case.kv[1], "-r", 1, "-o", "json", "-p", case.prompt, "-n", case.generate,
                "-d", case.depth])
            (result,) = json.loads(out)
            return result["avg_ts"]
        context = case.batch * (case.depth + case.generate + 64)
        out = run([self.folder / "llama-batched-bench"] + self.common + [
            "-fa", "on", "-ctk", case.kv[1], "-ctv", case.kv[1], "-c", context, "-npp", case.depth, "-ntg", case.generate,
            "-npl", case.batch, "--output-format", "jsonl"])
        lines = [line for line in out.splitlines() if line.startswith("{")]
        return json.loads(lines[-1])["speed_tg"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--llama", required=True, type=pathlib.Path, help="folder of its programs")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="cases whose name contains this")
    parser.add_argument("--long", action="store_true",
                        help="the cases that take minutes a round as well")
    parser.add_argument("--json", help="write the figures here too")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"note: the machine is busy (load {load:.1f}); ratios will be rough",
              file=sys.stderr)
    engines = [Holdfast(options), Llama(options)]
    print(f"{pathlib.Path(options.model).name}, {options.threads} threads, "
          f"{options.rounds} rounds; tokens/s: median (lowest, highest)")
    print(f"{'':20}{'holdfast':>26}{'llama.cpp':>26}{'ratio':>8}{'wanted':>8}")
    report = []
    for case in CASES:
        if options.only and options.only not in case.name:
            continue
        if case.minutes and not (options.long or options.only):
            continue
        figures = {engine.name: [] for engine in engines}
        for _ in range(options.rounds):
            for engine in engines:
                figures[engine.name].append(engine.measure(case))
        medians = {name: statistics.median(values) for name, values in figures.items()}
        ratio = medians["holdfast"] / medians["llama.cpp"]
        cells = "".join(
            f"{medians[name]:10.1f} ({min(values):6.1f}, {max(values):6.1f})"
            for name, values in figures.items())
        print(f"{case.name:20}{cells}{ratio:7.2f}x{case.wanted:7.1f}x", flush=True)
        report.append(dataclasses.asdict(case) | {"figures": figures, "ratio": ratio})
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
