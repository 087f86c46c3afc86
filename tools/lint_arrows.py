#!/usr/bin/env python3
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Checks which folder may include which, and that MLX stays where it belongs.

MAY lists the direct arrows; what a folder may include is everything reachable by
them. Headers are followed, so that an include through a third file counts too.
What belongs to the whole process, such as MLX's compile mode and the environment,
is set and read by apps alone.
"""

import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Folders below holdfast/, and apps.
MAY = {
    "base": [],
    "env": ["base"],
    "block": ["env"],
    "codec": ["block"],
    "rows": ["base"],
    "plan": ["rows", "codec"],
    "tier": ["env", "block"],
    "objects": ["tier"],
    "formats": ["base", "env"],
    "kernels": ["plan", "codec", "env"],
    "measure": ["engine"],
    "attend": ["kernels"],
    "recurrent": ["kernels"],
    "state": ["attend", "recurrent"],
    "models": ["state"],
    "prefix": ["state", "objects"],
    "engine": ["models", "formats", "prefix"],
    "train": ["attend", "recurrent", "kernels"],
    "apps": ["engine", "measure"],
}
# Folders that never see MLX. In kernels the primitives do, with the headers that
# declare them: no other source may, for it is part of the library without MLX.
NO_MLX = {"base", "env", "block", "codec", "rows", "plan", "tier", "objects", "formats"}
MLX_FILE_IN_KERNELS = re.compile(r"_primitive\.cpp$|\.h$|/none/|/cuda/")
OF_THE_PROCESS = re.compile(
    r"\b(set_compile_mode|enable_compile|disable_compile|set_default_device|set_default_stream"
    r"|getenv|secure_getenv|setenv|unsetenv|putenv)\s*\(")
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)


@functools.cache
def reachable(folder):
    result = {folder}
    for other in MAY[folder]:
        result |= reachable(other)
    return result


def folder_of(path):
    parts = path.parts
    return "apps" if parts[0] == "apps" else parts[1]


@functools.cache
def includes(path):
    return tuple(INCLUDE.findall((ROOT / path).read_text(encoding="utf-8")))


@functools.cache
def closure(path):
    """Every include below `path` -> the file that has it."""
    found = {}
    waiting = [path]
    seen = {path}
    while waiting:
        file = waiting.pop()
        for name in includes(file):
            found.setdefault(name, file)
            header = pathlib.Path(name)
            if name.startswith(("holdfast/", "apps/")) and header not in seen:
                seen.add(header)
                if (ROOT / header).exists():
                    waiting.append(header)
    return found


def mlx_allowed(path):
    folder = folder_of(path)
    if folder == "kernels":
        return bool(MLX_FILE_IN_KERNELS.search(path.as_posix()))
    return folder not in NO_MLX


def faults(path):
    folder = folder_of(path)
    if folder not in MAY:
        yield f"{path}: folder {folder} is not in the table of tools/lint_arrows.py"
        return
    for name, via in closure(path).items():
        through = "" if via == path else f" (through {via})"
        if name.startswith("holdfast/") and folder_of(pathlib.Path(name)) not in reachable(folder):
            yield f"{path}: {folder} may not include {name}{through}"
        if name.startswith("mlx/") and not mlx_allowed(path):
            yield f"{path}: no MLX here: {name}{through}"
    if folder != "apps":
        for call in OF_THE_PROCESS.findall((ROOT / path).read_text(encoding="utf-8")):
            yield f"{path}: only apps may call {call}, which is the process's"


def main():
    files = [
        path.relative_to(ROOT)
        for top in ("holdfast", "apps")
        for pattern in ("*.h", "*.cpp")
        for path in sorted((ROOT / top).rglob(pattern))
    ]
    wrong = [fault for path in files for fault in faults(path)]
    print("\n".join(wrong) or f"{len(files)} files follow the arrows")
    sys.exit(bool(wrong) or not files)


if __name__ == "__main__":
    main()
