# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Calls the command line and reads its JSON lines."""

import json
import subprocess


def run(binary, *arguments):
    """The JSON objects that `holdfast ARGUMENTS --json` prints, one a line."""
    command = [str(binary)] + [str(a) for a in arguments] + ["--json"]
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SystemExit(
            f"{' '.join(command)[:300]}: exit code {done.returncode}\n"
            + done.stderr.decode(errors="replace")[-2000:]
        )
    try:
        return [json.loads(line) for line in done.stdout.decode().splitlines()]
    except json.JSONDecodeError as error:
        raise SystemExit(f"{' '.join(command)[:300]}: {error}\n{done.stdout[:500]}")
