#!/usr/bin/env python3
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Small models with random weights, built from mlx-lm's own classes, as folders.

Each gets config.json, model.safetensors (float32) and expected/logits.safetensors: the
logits that mlx-lm gives for some random tokens, and its greedy continuation of
the first of them; the logits of the same weights rounded to bfloat16 too.
tests/models/oracle_test.cpp compares. The folders are kept in
tests/data/models; this script makes them again, or larger ones elsewhere.
mlx-lm leaves out the windows of some families: they are given to its layers here.
"""

import argparse
import importlib
import importlib.util
import json
import pathlib
import sys
import types

import mlx.core as mx
import mlx.nn as nn
import mlx.utils

# mlx_lm's own front door wants a tokenizer library that is not needed here.
front = types.ModuleType("mlx_lm")
front.__path__ = list(importlib.util.find_spec("mlx_lm").submodule_search_locations)
sys.modules["mlx_lm"] = front
create_causal_mask = importlib.import_module("mlx_lm.models.base").create_causal_mask

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

# llama 3: grouped heads, tied.
LLAMA = {
    "model_type": "llama",
    "hidden_act": "silu",
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "vocab_size": 64,
    "rms_norm_eps": 1e-5,
    "max_position_embeddings": 4096,
    "rope_theta": 500000.0,
    "rope_scaling": {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 64,
    },
    "attention_bias": False,
    "mlp_bias": False,
    "tie_word_embeddings": True,
}

# Plain heads, wider than hidden / heads; biases everywhere; some layers slide.
LLAMA_BIASED = LLAMA | {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 3,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "rope_theta": 10000.0,
    "rope_scaling": {"type": "linear", "factor": 4.0},
    "attention_bias": True,
    "mlp_bias": True,
    "tie_word_embeddings": False,
    "sliding_window": 24,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
}

SHAPED = {key: LLAMA_BIASED[key] for key in LLAMA_BIASED if key not in (
    "attention_bias", "mlp_bias", "layer_types", "rope_scaling")}

MISTRAL = SHAPED | {"model_type": "mistral", "num_key_value_heads": 1}

QWEN2 = SHAPED | {
    "model_type": "qwen2",
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_key_value_heads": 1,
    "rope_scaling": {"type": "yarn", "factor": 4.0,
                     "original_max_position_embeddings": 40},
    "use_sliding_window": True,
    "max_window_layers": 1,
}

QWEN3 = SHAPED | {
    "model_type": "qwen3",
    "num_key_value_heads": 1,
    "use_sliding_window": False,
    "tie_word_embeddings": True,
}

PHI3 = SHAPED | {
    "model_type": "phi3",
    "hidden_size": 64,
    "num_key_value_heads": 1,
    "partial_rotary_factor": 0.75,
    "original_max_position_embeddings": 1024,
    "rope_scaling": {
        "type": "longrope",
        "short_factor": [1.0] * 12,
        "long_factor": [1.0, 1.0, 1.1, 1.3, 1.6, 2.0, 2.6, 3.5, 5.0, 7.5, 11.0, 16.0],
    },
}
del PHI3["head_dim"]

GEMMA2 = SHAPED | {
    "model_type": "gemma2",
    "hidden_activation": "gelu_pytorch_tanh",
    "query_pre_attn_scalar": 48,
    "attn_logit_softcapping": 5.0,
    "final_logit_softcapping": 8.0,
    "tie_word_embeddings": True,
}
del GEMMA2["hidden_act"]

# Experts in the first and the last layer.
QWEN3_MOE = SHAPED | {
    "model_type": "qwen3_moe",
    "num_key_value_heads": 1,
    "num_experts": 6,
    "num_experts_per_tok": 2,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [1],
    "moe_intermediate_size": 32,
    "norm_topk_prob": True,
}

GPT_OSS = SHAPED | {
    "model_type": "gpt_oss",
    "num_key_value_heads": 1,
    "num_hidden_layers": 2,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "intermediate_size": 32,
    "layer_types": ["sliding_attention", "full_attention"],
    "rope_scaling": {"rope_type": "yarn", "factor": 8.0, "beta_fast": 32.0,
                     "beta_slow": 1.0, "original_max_position_embeddings": 64},
}

CONFIGS = {"qwen35": QWEN35, "gemma4": GEMMA4, "gemma4_wide": GEMMA4_WIDE,
           "latent": LATENT, "llama": LLAMA, "llama_biased": LLAMA_BIASED,
           "mistral": MISTRAL, "qwen2": QWEN2, "qwen3": QWEN3,
           "phi3": PHI3, "gemma2": GEMMA2,
           "qwen3_moe": QWEN3_MOE, "gpt_oss": GPT_OSS}

# A mixture is not continuous where a choice of experts turns: seeds at which
# rounding the weights turns none.
SEEDS = {"qwen3_moe": 19, "gpt_oss": 3}

# Their heads or hidden sizes fit no group.
NOT_QUANTIZED = ("qwen3_5", "gemma4_text", "deepseek_v2")

MODULES = {"mistral": "llama"}


def windows(config):
    """The window of each layer that mlx-lm's class would not give it, or 0."""
    kind, size = config["model_type"], config.get("sliding_window") or 0
    layers = range(config.get("num_hidden_layers", 0))
    if kind in ("mistral", "phi3"):
        return [size for _ in layers]
    if kind == "gemma2":
        return [0 if i % 2 else size for i in layers]
    if kind == "qwen2" and config["use_sliding_window"]:
        return [size if i >= config["max_window_layers"] else 0 for i in layers]
    return [0 for _ in layers]


def narrow(layer, window):
    """The layer, which sees the last `window` positions alone."""
    usual = type(layer)

    class Narrow(usual):
        def __call__(self, x, mask=None, cache=None):
            assert cache is None
            seen = create_causal_mask(x.shape[1], window_size=window)
            return super().__call__(x, seen, cache)

    layer.__class__ = Narrow


def gain_of(kind):
    """Large enough that every part of a layer shows in the logits; the families of
    the decoder are compared in bfloat16 too, where larger ones grow the rounding."""
    if kind in ("qwen3_moe", "gpt_oss"):
        return 0.8
    return 1.5 if kind in ("qwen3_5", "gemma4_text", "deepseek_v2") else 1.0


def random_weight(name, array, kind):
    gain = gain_of(kind)
    if name.endswith("A_log"):  # states that last from one to a hundred tokens
        return mx.log(mx.random.uniform(0.01, 2.0, array.shape))
    if name.endswith("norm.weight") or name.endswith("layer_scalar"):
        less = 1.0 if kind == "gemma2" else 0.0  # norms are stored less one
        return mx.random.uniform(0.5 - less, 1.5 - less, array.shape)
    if name.endswith("dt_bias"):
        return mx.random.normal(array.shape)
    if name.endswith(".bias"):
        return 0.3 * mx.random.normal(array.shape)
    if "embed_tokens" in name:
        small = 0.03 if kind == "gemma2" else 0.3  # or layers would not show
        return mx.random.normal(array.shape) * (1.0 if gain > 1.0 else small)
    if name.endswith("mlp.gate.weight") or name.endswith("router.weight"):
        gain *= 3.0  # choices that rounding seldom turns
    experts = "switch_mlp" in name or "mlp.experts" in name
    fan_in = array.shape[2 if experts else 1] if array.ndim > 1 else 1
    return mx.random.normal(array.shape) * (gain / fan_in**0.5)


def build(config, weights=None):
    kind = config["model_type"]
    module = importlib.import_module(f"mlx_lm.models.{MODULES.get(kind, kind)}")
    model = module.Model(module.ModelArgs.from_dict(json.loads(json.dumps(config))))
    weights = weights or [
        (name, random_weight(name, array, kind))
        for name, array in mlx.utils.tree_flatten(model.parameters())
    ]
    model.load_weights(weights)
    for i, window in enumerate(windows(config)):
        if window:
            narrow(model.layers[i], window)
    mx.eval(model.parameters())
    return model


def greedy(model, prompt):
    """Whole forwards: the oracle's cache has no part in it."""
    ids = list(prompt)
    for _ in range(GREEDY):
        ids.append(mx.argmax(model(mx.array([ids]))[0, -1]).item())
    return ids[len(prompt) :]


def kind_of(path, module, config):
    """How a module is quantised: experts of gpt-oss as published, others in 4
    bits, some in 8; a router keeps its weights, or its choices would turn."""
    if not hasattr(module, "to_quantized"):
        return None
    if path.endswith("mlp.gate") or path.endswith("router"):
        return False
    if config["model_type"] == "gpt_oss":
        mixed = "mlp.experts" in path
        return {"group_size": 32, "bits": 4, "mode": "mxfp4"} if mixed else False
    return {"group_size": 32, "bits": 8 if "down_proj" in path else 4}


def write_quantized(config, model, ids, folder):
    """The model as MLX quantises it, in a folder of its own, and what the weights
    that its codes stand for give in float32."""
    kinds = {}

    def predicate(path, module):
        kind = kind_of(path, module, config)
        if kind is not None:
            kinds[path] = kind
        return kind or False

    model.set_dtype(mx.bfloat16)
    nn.quantize(model, class_predicate=predicate)
    weights = dict(mlx.utils.tree_flatten(model.parameters()))
    usual = next(kind for kind in kinds.values() if kind)
    quantization = dict(usual) | {
        path: kind for path, kind in kinds.items() if kind != usual
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(
        json.dumps(config | {"quantization": quantization}, indent=1) + "\n"
    )
    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    dense = {name: w.astype(mx.float32) for name, w in weights.items()
             if w.dtype == mx.bfloat16}
    for path, kind in kinds.items():
        if kind:
            part = {key: weights.get(f"{path}.{key}") for key in ("scales", "biases")}
            dense.pop(f"{path}.scales", None)
            dense.pop(f"{path}.biases", None)
            dense[f"{path}.weight"] = mx.dequantize(
                weights[f"{path}.weight"], part["scales"], part["biases"], **kind
            ).astype(mx.float32)
    logits = build(config, list(dense.items()))(ids[None])[0]
    assert mx.all(mx.isfinite(logits)).item()
    mx.save_safetensors(
        str(folder / "logits.safetensors"), {"logits": logits.astype(mx.float16)}
    )


def write(name, folder, tokens):
    mx.random.seed(SEEDS.get(name, 1))
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
    # Weights of bfloat16, all else in float32: of two programs that round what
    # they compute, neither is an oracle.
    model.set_dtype(mx.bfloat16)
    model.set_dtype(mx.float32)
    mx.save_safetensors(
        str(folder / "expected" / "bf16.safetensors"), {"logits": model(ids[None])[0]}
    )
    if config["model_type"] not in NOT_QUANTIZED:
        write_quantized(config, model, ids, folder / "quantized")
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
