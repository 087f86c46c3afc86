#!/usr/bin/env python3
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Fails if a source file has 400 lines or more, or lacks its licence line."""

import statistics
import subprocess
import sys

LIMIT = 400
LICENCE = "Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0"
PATTERNS = ["*.h", "*.cpp", "*.py", "*.sh", "dev"]


def main():
    files = subprocess.run(
        ["git", "ls-files", "-z", "--"] + PATTERNS, capture_output=True, check=True
    ).stdout.decode().split("\0")[:-1]
    wrong = []
    sizes = []
    for path in files:
        lines = open(path, encoding="utf-8").read().splitlines()
        sizes.append(len(lines))
        if len(lines) >= LIMIT:
            wrong.append(f"{path}: {len(lines)} lines, expected fewer than {LIMIT}")
        if not any(LICENCE in line for line in lines[:3]):
            wrong.append(f"{path}: no licence line")
    print(f"{len(files)} files, median {statistics.median(sizes):.0f} lines")
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
