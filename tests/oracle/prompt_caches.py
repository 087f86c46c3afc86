#!/usr/bin/env python3
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Prompt caches of the small models in tests/data/models, made by mlx-lm.

For the leading tokens of expected/logits.safetensors, as folder cache/ of a model: in
mlx-lm's own layout and in the one before it (whose numbers are texts of the
metadata). tests/engine/mlx_import_test.cpp reads them and goes on.
"""

import importlib
import json
import pathlib

import small_models  # stubs mlx_lm's front door
import mlx.core as mx
import mlx.utils

from mlx_lm.models import cache as caches

MODELS = small_models.ROOT / "tests/data/models"


def load(name):
    config = json.loads((MODELS / name / "config.json").read_text())
    module = importlib.import_module(f"mlx_lm.models.{config['model_type']}")
    model = module.Model(module.ModelArgs.from_dict(config))
    model.load_weights(str(MODELS / name / "model.safetensors"))
    tokens = mx.load(str(MODELS / name / "expected/logits.safetensors"))["tokens"]
    return model, tokens


def filled(name, length, singles=0):
    """The cache of so many tokens, the last ones fed one by one."""
    model, tokens = load(name)
    cache = caches.make_prompt_cache(model)
    begin = length - singles
    mx.eval(model(tokens[None, :begin], cache=cache))
    for i in range(begin, length):
        mx.eval(model(tokens[None, i : i + 1], cache=cache))
    return cache


def save(name, file, cache):
    folder = MODELS / name / "cache"
    folder.mkdir(exist_ok=True)
    caches.save_prompt_cache(str(folder / file), cache, {"model": name})


def save_before(name, file, cache):
    """As 0.32.0 did: buffers cut to the offset, numbers as texts."""
    arrays, texts = [], []
    for c in cache:
        kind = type(c).__name__
        cut = lambda x: x[..., : c.offset, :]
        if kind == "KVCache":
            arrays.append((cut(c.keys), cut(c.values)))
            texts.append("")
        elif kind == "QuantizedKVCache":
            arrays.append(mlx.utils.tree_map(cut, (c.keys, c.values)))
            texts.append([str(x) for x in (c.offset, c.group_size, c.bits)])
        elif kind == "RotatingKVCache":
            arrays.append(c.keys_and_values())
            texts.append([str(x) for x in (c.keep, c.max_size, c.offset, c._idx)])
        else:
            arrays.append(c.cache)
            texts.append("")
    metadata = [texts, {"model": name}, [type(c).__name__ for c in cache]]
    folder = MODELS / name / "cache"
    folder.mkdir(exist_ok=True)
    mx.save_safetensors(
        str(folder / file),
        dict(mlx.utils.tree_flatten(arrays)),
        dict(mlx.utils.tree_flatten(metadata)),
    )


def latents(length):
    """What deepseek_v3's attention keeps, of this model: latents and turned keys."""
    model, tokens = load("latent")
    h = model.model.embed_tokens(tokens[None, :length])
    result = []
    for layer in model.model.layers:
        at = layer.self_attn
        both = at.kv_a_proj_with_mqa(layer.input_layernorm(h))
        latent, turned = mx.split(both, [at.kv_lora_rank], axis=-1)
        cache = caches.KVCache()
        cache.update_and_fetch(
            at.kv_a_layernorm(latent)[:, None],
            at.rope(turned[:, None]),
        )
        result.append(cache)
        h = layer(h, "causal", None)
    return result


def main():
    mx.set_default_device(mx.cpu)
    save("qwen35", "state_64.safetensors", filled("qwen35", 64))
    save_before("qwen35", "before_128.safetensors", filled("qwen35", 128, 3))
    save("gemma4", "state_100.safetensors", filled("gemma4", 100, 40))
    save_before("gemma4", "before_100.safetensors", filled("gemma4", 100))
    save("gemma4_wide", "state_20.safetensors", filled("gemma4_wide", 20, 5))
    quantized = filled("gemma4_wide", 100, 1)
    for i, cache in enumerate(quantized):
        if hasattr(cache, "to_quantized") and type(cache) is caches.KVCache:
            quantized[i] = cache.to_quantized(group_size=32, bits=8)
    save_before("gemma4_wide", "quantized_100.safetensors", quantized)
    save_before("latent", "expanded_30.safetensors", filled("latent", 30))
    save("latent", "latents_70.safetensors", latents(70))


if __name__ == "__main__":
    main()
