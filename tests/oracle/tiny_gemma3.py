#!/usr/bin/env python3
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""A small random gemma3 through mlx-lm's own class, against holdfast.

Eight layers (two kinds), window 16, float32 weights and state: every
log-probability that holdfast gives after a prompt of about 200 tokens, whatever
the prefill chunk, lies within 1e-4 of the class's. Then with state that is
quantised from position 96 on (`--kv q8g32@96`), against mlx-lm's caches that are
quantised there (rounded_cache.py), within STARTS.
With --write PATH it only writes the model file.
"""

import argparse
import itertools
import pathlib
import sys
import tempfile

import gguf
import mlx.core as mx
import numpy as np
from mlx.utils import tree_flatten

import gemma3_mlx
import holdfast_cli
import rounded_cache

BOUND = 1e-4
VOCAB = 512
WINDOW = 16
CONTEXT = 1024
STEPS = 40
CHUNKS = (512, 7)
START = 96
# --kv, bits, group, and the largest error of the reference read and of the
# kernels, which round queries and weights to bf16. Where a key's last bits
# differ, a code may: that is what a wider step makes more of.
STARTS = (("q8g32", 8, 32, 0.009, 0.04), ("q8", 8, 64, 0.009, 0.04), ("q4g32", 4, 32, 0.06, 0.25))
LETTERS = "etaoinshrdlcumwfgypbvk"


def vocabulary():
    """(pieces, scores, types): control, byte, user-defined and normal pieces."""
    types = gguf.TokenType
    rows = [("<pad>", -1000.0, types.CONTROL), ("<eos>", -1000.0, types.CONTROL),
            ("<bos>", -1000.0, types.CONTROL), ("<unk>", -1000.0, types.UNKNOWN),
            ("<tag>", -1000.0, types.USER_DEFINED)]
    rows += [(f"<0x{byte:02X}>", -1000.0, types.BYTE) for byte in range(256)]
    pairs = ("".join(pair) for pair in itertools.product("▁" + LETTERS, LETTERS))
    pieces = itertools.islice(
        itertools.chain("▁" + LETTERS + ".,\n", pairs), VOCAB - len(rows))
    rows += [(piece, -float(rank), types.NORMAL) for rank, piece in enumerate(pieces)]
    return zip(*rows)


def make(seed):
    args = gemma3_mlx.gemma3_text.ModelArgs(
        model_type="gemma3_text", hidden_size=64, num_hidden_layers=8,
        intermediate_size=128, num_attention_heads=4, num_key_value_heads=2, head_dim=64,
        rms_norm_eps=1e-6, vocab_size=VOCAB, rope_theta=1e6, rope_local_base_freq=1e4,
        query_pre_attn_scalar=64, sliding_window=WINDOW,
        sliding_window_pattern=gemma3_mlx.WINDOW_PATTERN, max_position_embeddings=CONTEXT)
    random = np.random.default_rng(seed)
    weights = {}
    for name, value in tree_flatten(gemma3_mlx.gemma3_text.Model(args).parameters()):
        scale = 0.3 if gemma3_mlx.is_norm(name) else value.shape[-1] ** -0.5
        weights[name] = mx.array(random.normal(0, scale, value.shape).astype(np.float32))
    del weights["lm_head.weight"]  # tied, as in the family
    return args, weights, gemma3_mlx.build(args, weights)


def write(path, args, weights):
    writer = gguf.GGUFWriter(path, "gemma3")
    writer.add_name("tiny random gemma3")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_context_length(args.max_position_embeddings)
    writer.add_embedding_length(args.hidden_size)
    writer.add_block_count(args.num_hidden_layers)
    writer.add_feed_forward_length(args.intermediate_size)
    writer.add_head_count(args.num_attention_heads)
    writer.add_head_count_kv(args.num_key_value_heads)
    writer.add_key_length(args.head_dim)
    writer.add_value_length(args.head_dim)
    writer.add_layer_norm_rms_eps(args.rms_norm_eps)
    writer.add_rope_freq_base(args.rope_theta)
    writer.add_sliding_window(args.sliding_window)
    pieces, scores, types = vocabulary()
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(list(pieces))
    writer.add_token_scores(list(scores))
    writer.add_token_types(list(types))
    writer.add_pad_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_bos_token_id(2)
    writer.add_unk_token_id(3)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(False)
    writer.add_add_space_prefix(False)
    for name, value in weights.items():
        value = np.array(value)
        writer.add_tensor(
            gemma3_mlx.file_name(name), value + 1 if gemma3_mlx.is_norm(name) else value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def text(seed):
    random = np.random.default_rng(seed)
    words = ("".join(random.choice(list(LETTERS), random.integers(2, 8))) for _ in range(55))
    return " ".join(words) + " é日."


def answer_of(path, binary, kv, chunk, *more):
    (answer,) = holdfast_cli.run(
        binary, "generate", "--state", "none", "-m", path, "--temp", 0, "-n", STEPS, "--ignore-eos",
        "--kv", kv, "--chunk", chunk, "--logprobs", VOCAB, "-p", text(1), *more)
    assert answer["prompt_tokens"] == len(answer["prompt_ids"]) >= 150, answer["prompt_ids"]
    return answer


def worst_error(answer, logits):
    """logits: of all the ids but the last."""
    expected = gemma3_mlx.log_softmax(np.array(logits[len(answer["prompt_ids"]) - 1 :]))
    worst = 0.0
    for step, row in zip(answer["logprobs"], expected, strict=True):
        assert len(step["top"]) == VOCAB, len(step["top"])
        for top in step["top"]:
            worst = max(worst, abs(top["logprob"] - row[top["id"]]))
    return worst, expected


def ids_of(answer):
    return answer["prompt_ids"] + answer["ids"][:-1]


def check(path, model, binary):
    good = True
    for chunk in CHUNKS:
        answer = answer_of(path, binary, "f32", chunk)
        worst, expected = worst_error(answer, model(mx.array([ids_of(answer)]))[0])
        print(f"chunk {chunk}: {answer['prompt_tokens']} + {len(answer['ids'])} tokens, "
              f"log-probabilities {expected.min():.2f} to {expected.max():.2f}, "
              f"largest error {worst:.2e} (at most {BOUND:.0e})")
        good = good and worst <= BOUND
    return good


def check_start(path, model, binary):
    """Each beside what mlx-lm gives quantised from the first token, and never."""
    good = True
    for kv, bits, group, of_reference, of_kernels in STARTS:
        for chunk, bound, *read in (
                (CHUNKS[0], of_reference, "--reference"), (CHUNKS[1], of_reference, "--reference"),
                (CHUNKS[0], of_kernels)):
            answer = answer_of(path, binary, f"{kv}@{START}", chunk, *read)
            errors = [
                worst_error(answer, rounded_cache.logits(model, ids_of(answer), bits, group, start))[0]
                for start in (START, 0, None)]
            print(f"{kv}@{START} {' '.join(read)} chunk {chunk}: largest error {errors[0]:.2e} (at most {bound}); "
                  f"from the first token it is {errors[1]:.2e}, never {errors[2]:.2e}")
            good = good and errors[0] <= bound and errors[0] < min(errors[1:])
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", help="the holdfast program")
    parser.add_argument("--write", help="write the model here and stop")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--short", action="store_true", help="accepted; this test is short")
    options = parser.parse_args()
    args, weights, model = make(options.seed)
    if options.write:
        write(options.write, args, weights)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "tiny.gguf")
        write(path, args, weights)
        good = check(path, model, options.binary)
        sys.exit(not check_start(path, model, options.binary) or not good)


if __name__ == "__main__":
    main()
