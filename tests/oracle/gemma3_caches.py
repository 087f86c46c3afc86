#!/usr/bin/env python3
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Prompt caches that mlx-lm makes of a gemma3 file, given to `holdfast state import`.

mlx-lm's own class computes the state of a prompt in float32 (gemma3_mlx.py) and saves
it in both of its layouts; holdfast imports it, generate goes on from it, computes
nothing but the rest, and gives the text of a run without it, with log-probabilities
within BOUND. With --write FOLDER it only writes the caches there: those of
tests/data/caches/gemma3 for the model that tests/apps/import_cli_test.cpp asks for.
"""

import argparse
import hashlib
import pathlib
import tempfile

import mlx.core as mx
import mlx.utils

import gemma3_mlx
import holdfast_cli

from mlx_lm.models import cache as caches

# What log-probabilities may differ by: kernels round queries and weights to bf16, half
# of what gemma3_oracle.py allows at worst.
BOUND = 0.15
STEPS = 12
TINY = " ".join(("hello the hell lot", "the hello bed", "ache") * 5)
REST = " the hello"


def tokens_of(binary, model, text):
    (answer,) = holdfast_cli.run(binary, "tokenize", "-m", model, "-p", text)
    return answer["ids"]


def filled(model, ids, singles):
    """The cache of these tokens, the last ones fed one by one."""
    cache = caches.make_prompt_cache(model)
    begin = len(ids) - singles
    mx.eval(model.model(mx.array([ids[:begin]]), cache=cache))
    for i in range(begin, len(ids)):
        mx.eval(model.model(mx.array([ids[i : i + 1]]), cache=cache))
    return cache


def rounded(cache, dtype):
    for c in cache:
        c.keys, c.values = c.keys.astype(dtype), c.values.astype(dtype)
    return cache


def save_before(path, cache, metadata):
    """As 0.32.0 did: buffers cut to the offset, numbers as texts."""
    arrays, texts = [], []
    for c in cache:
        if isinstance(c, caches.RotatingKVCache):
            arrays.append(c.keys_and_values())
            texts.append([str(x) for x in (c.keep, c.max_size, c.offset, c._idx)])
        else:
            arrays.append((c.keys[..., : c.offset, :], c.values[..., : c.offset, :]))
            texts.append("")
    names = [type(c).__name__ for c in cache]
    mx.save_safetensors(
        str(path),
        dict(mlx.utils.tree_flatten(arrays)),
        dict(mlx.utils.tree_flatten([texts, metadata, names])),
    )


def write(folder, path, binary, text):
    """Both layouts: prefilled and then fed one by one; prefilled, and rounded."""
    model = gemma3_mlx.Gemma3(path).model
    ids = tokens_of(binary, path, text)
    metadata = {"model": hashlib.sha256(path.read_bytes()).hexdigest(), "text": text}
    folder.mkdir(parents=True, exist_ok=True)
    state, before = folder / "state.safetensors", folder / "before.safetensors"
    caches.save_prompt_cache(str(state), filled(model, ids, 40), metadata)
    save_before(before, rounded(filled(model, ids, 0), mx.bfloat16), metadata)
    return len(ids), (state, before)


def answer_of(binary, path, text, *more):
    (answer,) = holdfast_cli.run(
        binary, "generate", "-m", path, "--kv", "f32", "--temp", 0, "-n", STEPS, "--ignore-eos",
        "--logprobs", 1, "-p", text + REST, *more)
    return answer


def check(folder, path, binary, text):
    length, files = write(folder, path, binary, text)
    state = folder / "state"
    cold = answer_of(binary, path, text, "--state", "none")
    good = True
    for file in files:
        (imported,) = holdfast_cli.run(
            binary, "state", "import", file, "-m", path, "--kv", "f32", "--foreign-bits",
            "--name", file.stem, "-p", text, "--state", state)
        warm = answer_of(
            binary, path, text, "--state", state, "--foreign-bits", "chat/" + file.stem)
        worst = max(abs(a["logprob"] - b["logprob"])
                    for a, b in zip(cold["logprobs"], warm["logprobs"], strict=True))
        print(f"{file.name}: {imported['tokens']} tokens, {warm['reused_from_disk']} of "
              f"{warm['prompt_tokens']} from them, text "
              f"{'equal' if warm['ids'] == cold['ids'] else 'another'}, "
              f"log-probabilities within {worst:.1e} (at most {BOUND})")
        good = good and warm["ids"] == cold["ids"] and worst <= BOUND
        good = good and imported["tokens"] == warm["reused_from_disk"] == length
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--write", type=pathlib.Path, metavar="FOLDER")
    options = parser.parse_args()
    mx.set_default_device(mx.cpu)
    if options.write:
        write(options.write, options.model, options.binary, TINY)
        return
    text = pathlib.Path(__file__).read_text()[:2400] # longer than the window
    with tempfile.TemporaryDirectory() as folder:
        if not check(pathlib.Path(folder), options.model, options.binary, text):
            raise SystemExit("[gemma3_caches] expected the text of a cold run, got another")


if __name__ == "__main__":
    main()
