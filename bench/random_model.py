#!/usr/bin/env python3
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""A llama-shaped model of about a billion random weights, or with --experts one
shaped like qwen3's mixtures, as a folder: to measure loading and speed, not to
talk with. Shards and index as mlx-lm writes them.
"""

import argparse
import json
import pathlib

import mlx.core as mx
import numpy


RANDOM = numpy.random.default_rng(1)


def config(options):
    mixture = {
        "model_type": "qwen3_moe",
        "num_experts": options.experts,
        "num_experts_per_tok": options.top,
        "moe_intermediate_size": options.expert_size,
        "decoder_sparse_step": 1,
        "mlp_only_layers": [],
        "norm_topk_prob": True,
    }
    return {
        "model_type": "llama",
        "hidden_size": options.hidden,
        "intermediate_size": 4 * options.hidden,
        "num_hidden_layers": options.layers,
        "num_attention_heads": options.hidden // 64,
        "num_key_value_heads": max(1, options.hidden // 256),
        "head_dim": 64,
        "vocab_size": options.vocab,
        "rms_norm_eps": 1e-5,
        "rope_theta": 500000.0,
        "max_position_embeddings": 8192,
        "tie_word_embeddings": True,
    } | (mixture if options.experts else {})


def layer(index, shape):
    """Names and shapes of a layer's tensors."""
    hidden, ffn = shape["hidden_size"], shape["intermediate_size"]
    queries = shape["num_attention_heads"] * shape["head_dim"]
    keys = shape["num_key_value_heads"] * shape["head_dim"]
    of = {
        "self_attn.q_proj": (queries, hidden),
        "self_attn.k_proj": (keys, hidden),
        "self_attn.v_proj": (keys, hidden),
        "self_attn.o_proj": (hidden, queries),
        "input_layernorm": (hidden,),
        "post_attention_layernorm": (hidden,),
    }
    if "num_experts" in shape:
        count, ffn = shape["num_experts"], shape["moe_intermediate_size"]
        of |= {
            "self_attn.q_norm": (shape["head_dim"],),
            "self_attn.k_norm": (shape["head_dim"],),
            "mlp.gate": (count, hidden),
            "mlp.switch_mlp.gate_proj": (count, ffn, hidden),
            "mlp.switch_mlp.up_proj": (count, ffn, hidden),
            "mlp.switch_mlp.down_proj": (count, hidden, ffn),
        }
    else:
        of |= {
            "mlp.gate_proj": (ffn, hidden),
            "mlp.up_proj": (ffn, hidden),
            "mlp.down_proj": (hidden, ffn),
        }
    return {f"model.layers.{index}.{name}": size for name, size in of.items()}


def tensors(name, size, options):
    if len(size) == 1:
        return {f"{name}.weight": mx.ones(size, mx.bfloat16)}
    values = RANDOM.standard_normal(size, dtype=numpy.float32) * size[-1] ** -0.5
    values = mx.array(values).astype(mx.bfloat16)
    if options.bits == 16:
        return {f"{name}.weight": values}
    parts = mx.quantize(values, options.group, options.bits)
    return {f"{name}.{part}": value
            for part, value in zip(("weight", "scales", "biases"), parts)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--hidden", type=int, default=2048, help="a multiple of 64")
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--vocab", type=int, default=32000)
    parser.add_argument("--bits", type=int, default=16, help="16: not quantised")
    parser.add_argument("--group", type=int, default=64)
    parser.add_argument("--experts", type=int, default=0, help="of a layer; 0: none")
    parser.add_argument("--top", type=int, default=8, help="experts a token")
    parser.add_argument("--expert-size", type=int, default=768, help="its inner width")
    options = parser.parse_args()
    mx.set_default_device(mx.cpu)
    shape = config(options)
    pieces = [layer(i, shape) for i in range(options.layers)]
    pieces[0] |= {"model.embed_tokens": (options.vocab, options.hidden)}
    pieces[-1] |= {"model.norm": (options.hidden,)}
    options.folder.mkdir(parents=True)
    weight_map, total = {}, 0
    for i in range(0, len(pieces), 4):  # four layers a file
        file = f"model-{i // 4 + 1:05}-of-{(len(pieces) + 3) // 4:05}.safetensors"
        held = {}
        for piece in pieces[i : i + 4]:
            for name, size in piece.items():
                held |= tensors(name, size, options)
        mx.save_safetensors(str(options.folder / file), held)
        weight_map |= dict.fromkeys(held, file)
        total += sum(tensor.nbytes for tensor in held.values())
    if options.bits != 16:
        shape["quantization"] = {"group_size": options.group, "bits": options.bits}
    (options.folder / "config.json").write_text(json.dumps(shape, indent=1) + "\n")
    (options.folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {"total_size": total}, "weight_map": weight_map}))
    print(f"{options.folder}: {total / 1e9:.2f} GB in {len(set(weight_map.values()))} files")


main()
