# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""What llama.cpp's server says of a model file: ids that follow a prompt."""

import contextlib
import json
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

PATIENCE = 60.0  # seconds until it listens, and for an answer


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def ask(port, path, body=None):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", data=body and json.dumps(body).encode(),
        headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.loads(answer.read())


@contextlib.contextmanager
def running(program, model, context):
    port, said = free_port(), tempfile.TemporaryFile()
    # State in float32 and plain attention, as the class computes.
    process = subprocess.Popen(
        [str(program), "-m", str(model), "-c", str(context), "--port", str(port), "-t", "2", "-np", "1", "--no-warmup",
         "-fa", "off", "-ctk", "f32", "-ctv", "f32"],
        stdout=subprocess.DEVNULL, stderr=said, stdin=subprocess.DEVNULL)
    try:
        until = time.monotonic() + PATIENCE
        while True:
            if process.poll() is not None:
                said.seek(0)
                raise SystemExit(f"{program} {model}: exit code {process.returncode}\n"
                                 + said.read().decode(errors="replace")[-3000:])
            try:
                ask(port, "/health")
                break
            except (urllib.error.URLError, ConnectionError):
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)
        yield port
    finally:
        process.kill()
        process.wait()
        said.close()


def greedy(program, model, ids, steps, context):
    """The ids that it goes on with after these, each its likeliest."""
    with running(program, model, context) as port:
        answer = ask(port, "/completion", {
            "prompt": ids, "n_predict": steps, "temperature": 0, "top_k": 1, "ignore_eos": True, "cache_prompt": False,
            "return_tokens": True, "samplers": ["top_k"]})
    return answer["tokens"]
