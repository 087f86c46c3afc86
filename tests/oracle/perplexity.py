#!/usr/bin/env python3
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""`holdfast eval` against llama-perplexity: within 1 % on 60 kB of English.

The text is what every Debian system has: licences, cut to 60 kB.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import holdfast_cli

BOUND = 0.01
BYTES = 60_000
LICENCES = pathlib.Path("/usr/share/common-licenses")
FILES = ("Artistic", "MPL-2.0", "LGPL-2.1", "GFDL-1.3")


def text():
    parts = [(LICENCES / name).read_text(encoding="utf-8") for name in FILES]
    whole = "\n\n".join(parts)[:BYTES]
    assert len(whole) == BYTES, f"{LICENCES} gives {len(whole)} characters only"
    return whole


def peer(program, model, path, context):
    done = subprocess.run(
        [program, "-m", model, "-f", path, "-c", str(context), "-t", "2"],
        capture_output=True, text=True, errors="replace", check=True)
    found = re.search(r"Final estimate: PPL = ([0-9.]+)", done.stdout + done.stderr)
    assert found, done.stderr[-2000:]
    return float(found[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--llama", required=True, help="llama-perplexity")
    parser.add_argument("--context", type=int, default=512)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "text.txt")
        path.write_text(text(), encoding="utf-8")
        (ours,) = holdfast_cli.run(
            options.binary, "eval", "-m", options.model, "-f", path,
            "--context", options.context)
        theirs = peer(options.llama, options.model, str(path), options.context)
    ratio = ours["ppl"] / theirs
    print(f"perplexity over windows of {options.context}: holdfast {ours['ppl']:.4f} "
          f"({ours['tokens']} tokens, {ours['windows']} windows), llama.cpp {theirs:.4f}, "
          f"ratio {ratio:.4f} (1 +- {BOUND})")
    sys.exit(abs(ratio - 1) > BOUND)


if __name__ == "__main__":
    main()
