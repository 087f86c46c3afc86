#!/usr/bin/env python3
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Small models with random weights, built from mlx-lm's own classes, as folders.

Each gets config.json, model.safetensors (float32) and expected.safetensors: the
logits that mlx-lm gives for some random tokens, and its greedy continuation of
the first of them. tests/models/oracle_test.cpp compares. The folders are kept in
tests/data/models; this script makes them again, or larger ones elsewhere.
"""

import argparse
import importlib
import importlib.util
import json
import pathlib
import sys
import types

import mlx.core as mx
import mlx.utils

# mlx_lm's own front door wants a tokenizer library that is not needed here.
front = types.ModuleType("mlx_lm")
front.__path__ = list(importlib.util.find_spec("mlx_lm").submodule_search_locations)
sys.modules["mlx_lm"] = front

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOKENS, GREEDY_PROMPT, GREEDY = 150, 20, 50

QWEN35 = {
    "model_type": "qwen3_5",
    "tie_word_embeddings": False,
    "text_config": {
        "model_type": "qwen3_5_text",
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 4,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 32,
        "rms_norm_eps": 1e-6,
        "vocab_size": 64,
        "max_position_embeddings": 4096,
        "linear_num_value_heads": 4,
        "linear_num_key_heads": 2,
        "linear_key_head_dim": 16,
        "linear_value_head_dim": 16,
        "linear_conv_kernel_dim": 4,
        "tie_word_embeddings": False,
        "attention_bias": False,
        "full_attention_interval": 4,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10000.0,
            "partial_rotary_factor": 0.25,
        },
    },
}

GEMMA4 = {
    "model_type": "gemma4_text",
    "hidden_size": 32,
    "intermediate_size": 40,
    "num_hidden_layers": 7,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "global_head_dim": 32,
    "rms_norm_eps": 1e-6,
    "vocab_size": 64,
    "vocab_size_per_layer_input": 64,
    "max_position_embeddings": 4096,
    "num_kv_shared_layers": 3,
    "hidden_size_per_layer_input": 16,
    "sliding_window": 24,
    "attention_k_eq_v": False,
    "final_logit_softcapping": 30.0,
    "use_double_wide_mlp": True,
    "tie_word_embeddings": True,
    "layer_types": [
        "sliding_attention", "sliding_attention", "full_attention", "sliding_attention",
        "sliding_attention", "full_attention", "sliding_attention",
    ],
    "rope_parameters": {
        "full_attention": {
            "rope_type": "proportional", "rope_theta": 1000000.0,
            "partial_rotary_factor": 0.25,
        },
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
    },
}

# The larger models: no shared layers, values of full layers are their keys.
GEMMA4_WIDE = GEMMA4 | {
    "num_hidden_layers": 3,
    "num_kv_shared_layers": 0,
    "hidden_size_per_layer_input": 0,
    "attention_k_eq_v": True,
    "num_global_key_value_heads": 1,
    "layer_types": ["sliding_attention", "full_attention", "full_attention"],
}

# Attention over latents; mlx-lm expands them, holdfast does not.
LATENT = {
    "model_type": "deepseek_v2",
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "num_key_value_heads": 3,
    "vocab_size": 64,
    "kv_lora_rank": 32,
    "q_lora_rank": 24,
    "qk_rope_head_dim": 16,
    "qk_nope_head_dim": 20,
    "v_head_dim": 24,
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 4096,
    "rope_theta": 10000.0,
    "rope_scaling": {"type": "yarn", "factor": 1.0},
    "attention_bias": False,
    "n_routed_experts": None,
}

CONFIGS = {"qwen35": QWEN35, "gemma4": GEMMA4, "gemma4_wide": GEMMA4_WIDE,
           "latent": LATENT}


def random_weight(name, array):
    """Large enough that every part of a layer shows in the logits."""
    if name.endswith("A_log"):  # states that last from one to a hundred tokens
        return mx.log(mx.random.uniform(0.01, 2.0, array.shape))
    if name.endswith("norm.weight") or name.endswith("layer_scalar"):
        return mx.random.uniform(0.5, 1.5, array.shape)
    if name.endswith("dt_bias"):
        return mx.random.normal(array.shape)
    if "embed_tokens" in name:
        return mx.random.normal(array.shape)
    fan_in = array.shape[1] if array.ndim > 1 else 1
    return mx.random.normal(array.shape) * (1.5 / fan_in**0.5)


def build(config):
    module = importlib.import_module(f"mlx_lm.models.{config['model_type']}")
    model = module.Model(module.ModelArgs.from_dict(json.loads(json.dumps(config))))
    weights = [
        (name, random_weight(name, array))
        for name, array in mlx.utils.tree_flatten(model.parameters())
    ]
    model.load_weights(weights)
    mx.eval(model.parameters())
    return model


def greedy(model, prompt):
    """Whole forwards: the oracle's cache has no part in it."""
    ids = list(prompt)
    for _ in range(GREEDY):
        ids.append(mx.argmax(model(mx.array([ids]))[0, -1]).item())
    return ids[len(prompt) :]


def write(name, folder, tokens):
    mx.random.seed(1)
    config = CONFIGS[name]
    model = build(config)
    vocab = config.get("text_config", config)["vocab_size"]
    ids = mx.random.randint(0, vocab, (tokens,))
    logits = model(ids[None])[0]
    assert mx.all(mx.isfinite(logits)).item()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    weights = dict(mlx.utils.tree_flatten(model.parameters()))
    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    (folder / "expected").mkdir(exist_ok=True)
    mx.save_safetensors(
        str(folder / "expected" / "logits.safetensors"),
        {
            "tokens": ids.astype(mx.int32),
            "logits": logits.astype(mx.float32),
            "greedy": mx.array(greedy(model, ids[:GREEDY_PROMPT].tolist()), mx.int32),
        },
    )
    spread = mx.max(mx.abs(logits)).item()
    print(f"{folder}: {sum(w.size for w in weights.values())} weights, "
          f"largest logit {spread:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=sorted(CONFIGS))
    parser.add_argument("--to", type=pathlib.Path, default=ROOT / "tests/data/models")
    parser.add_argument("--tokens", type=int, default=TOKENS)
    options = parser.parse_args()
    mx.set_default_device(mx.cpu)
    for name in options.names:
        write(name, options.to / name, options.tokens)


if __name__ == "__main__":
    main()
