#!/usr/bin/env python3
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Measures a restart beside llama-server's slots: same file, same threads, same
number of tokens.

holdfast: `holdfast bench restore`; new processes go on from what one computed,
with the files in memory. llama-server: a server computes a prompt and saves its
slot; another restores the slot and gets the same prompt again, as it comes and
with --swa-full. Times run from the loaded model to the first token, restoring
included. llama-server says how many tokens of the prompt it computed again.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request


def holdfast(options, tokens):
    command = [
        options.binary, "bench", "restore", "-m", options.model, "--prompt", str(tokens),
        "--kv", options.kv, "--repeat", str(options.repeat), "--threads",
        str(options.threads), "--json"]
    if options.folder:
        command += ["--folder", options.folder]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    result = json.loads(done.stdout)
    return {
        "computed_s": result["computed"]["first_token_s"],
        "restored_s": result["warm"]["first_token_s"],
        "cold_s": result["cold"]["first_token_s"],
        "computed_again": tokens - result["warm"]["reused_tokens"],
    }


class Server:
    """llama-server with one slot, until the block ends."""

    def __init__(self, options, tokens, folder, swa_full):
        with contextlib.closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = [
            options.llama / "llama-server", "-m", options.model, "-t", options.threads,
            "-c", tokens + 64, "-np", 1, "-fa", "on", "--host", "127.0.0.1",
            "--port", self.port, "--slot-save-path", str(folder) + "/"]
        if swa_full:
            command.append("--swa-full")
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [str(part) for part in command], stdout=self.log, stderr=subprocess.STDOUT)

    def __enter__(self):
        while True:
            if self.process.poll() is not None:
                self.log.seek(0)
                sys.exit("llama-server ended:\n" + self.log.read().decode(
                    errors="replace")[-2000:])
            try:
                self.ask("/health")
                return self
            except OSError:
                time.sleep(0.1)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def ask(self, path, body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def first_token(self, prompt):
        """(seconds, prompt tokens that were computed)"""
        begin = time.monotonic()
        answer = self.ask("/completion", {
            "prompt": prompt, "n_predict": 1, "temperature": 0, "cache_prompt": True,
            "id_slot": 0})
        return time.monotonic() - begin, answer["timings"]["prompt_n"]

    def slot(self, action):
        begin = time.monotonic()
        self.ask(f"/slots/0?action={action}", {"filename": "slot"})
        return time.monotonic() - begin


def llama(options, tokens, swa_full):
    # Ids that every vocabulary of this size has, and no control tokens.
    prompt = random.Random(1).choices(range(1000, 30000), k=tokens)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        with Server(options, tokens, folder, swa_full) as server:
            computed, _ = server.first_token(prompt)
            saved = server.slot("save")
        with Server(options, tokens, folder, swa_full) as server:
            restored = server.slot("restore")
            first, again = server.first_token(prompt)
    return {"computed_s": computed, "saved_s": saved, "restored_s": restored + first,
            "slot_s": restored, "computed_again": again}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--llama", type=pathlib.Path,
                        help="folder of its programs; without it holdfast alone is measured")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--tokens", type=int, nargs="+", default=[8000, 30000])
    parser.add_argument("--kv", default="bf16", help="of holdfast; llama-server holds f16")
    parser.add_argument("--repeat", type=int, default=3, help="restarts of holdfast")
    parser.add_argument("--folder", help="where state is kept meanwhile")
    parser.add_argument("--json", help="write the figures here too")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"note: the machine is busy (load {load:.1f}); times will be rough",
              file=sys.stderr)
    engines = [("holdfast", holdfast)]
    if options.llama:
        engines += [
            ("llama-server", lambda o, n: llama(o, n, swa_full=False)),
            ("llama-server --swa-full", lambda o, n: llama(o, n, swa_full=True))]
    print(f"{pathlib.Path(options.model).name}, {options.threads} threads; "
          "seconds to the first token")
    print(f"{'':26}{'tokens':>8}{'computed':>10}{'restored':>10}{'again':>8}{'holdfast is':>13}")
    report = []
    for tokens in options.tokens:
        ours = None
        for name, measure in engines:
            figures = measure(options, tokens)
            ours = ours or figures
            ratio = figures["restored_s"] / ours["restored_s"]
            faster = "" if figures is ours else f"{ratio:11.1f}x"
            print(f"{name:26}{tokens:8}{figures['computed_s']:10.2f}"
                  f"{figures['restored_s']:10.3f}{figures['computed_again']:8}{faster:>13}",
                  flush=True)
            report.append({"engine": name, "tokens": tokens, "ratio": ratio} | figures)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
