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
import mlx.utils

# mlx_lm's own front door wants a tokenizer library that is not needed here.
if "mlx_lm" not in sys.modules:
    front = types.ModuleType("mlx_lm")
    front.__path__ = list(importlib.util.find_spec("mlx_lm").submodule_search_locations)
    sys.modules["mlx_lm"] = front
create_causal_mask = importlib.import_module("mlx_lm.models.base").create_causal_mask

from small_configs import CONFIGS
from small_mxfp4 import write_mxfp4

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOKENS, GREEDY_PROMPT, GREEDY = 150, 20, 50

# A mixture is not continuous where a choice of experts turns: seeds at which
# rounding the weights turns none.
SEEDS = {"qwen3_moe": 19, "gpt_oss": 3}

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
        less = 1.0 if kind in ("gemma2", "gemma3_text") else 0.0  # norms are stored less one
        return mx.random.uniform(0.5 - less, 1.5 - less, array.shape)
    if name.endswith("dt_bias"):
        return mx.random.normal(array.shape)
    if name.endswith(".bias"):
        return 0.3 * mx.random.normal(array.shape)
    if "embed_tokens" in name:
        small = 0.03 if kind in ("gemma2", "gemma3_text") else 0.3  # or layers would not show
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
    if kind == "gemma3_text":
        model.sanitize({})  # its output is its table where there is no other
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
    if config["model_type"] == "gpt_oss":
        write_mxfp4(build, config, model, ids, folder / "mxfp4")
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
