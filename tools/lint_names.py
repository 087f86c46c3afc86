#!/usr/bin/env python3
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""The documents name only tests and files that exist.

Reads what stands between backticks in README.md and docs/: `Suite.Name` must be
a test, a path below one of the project's folders must be a file or a folder.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEST = re.compile(r"\b(?:\w*TEST\w*|RC_GTEST\w*)\(\s*(\w+),\s*(\w+)")
QUOTED = re.compile(r"`([^`\n]+)`")
TEST_NAME = re.compile(r"[A-Z]\w+\.[A-Z]\w+")
FOLDERS = ("holdfast/", "apps/", "bench/", "cmake/", "docs/", "fuzz/", "tests/", "tools/")
PATH = re.compile(r"[\w./-]+")


def tests():
    names = set()
    for path in (ROOT / "tests").rglob("*.cpp"):
        for suite, name in TEST.findall(path.read_text(encoding="utf-8")):
            names.add(f"{suite}.{name.removeprefix('DISABLED_')}")
    return names


def wrong(page, known):
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        for word in QUOTED.findall(line):
            where = f"{page.relative_to(ROOT)}:{number}"
            if TEST_NAME.fullmatch(word) and word not in known:
                yield f"{where}: expected the name of a test, got {word}"
            if (word.startswith(FOLDERS) and PATH.fullmatch(word)
                    and not (ROOT / word).exists()):
                yield f"{where}: expected a file, got {word}"


def main():
    known = tests()
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    faults = [line for page in pages for line in wrong(page, known)]
    print("\n".join(faults) if faults else f"{len(pages)} pages, {len(known)} tests: all named exist")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
