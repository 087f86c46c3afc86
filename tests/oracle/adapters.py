#!/usr/bin/env python3
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Random LoRA adapters for the small models of tests/data/models, written and applied
as mlx-lm does, and what it says of them.

Each folder gets adapter/ (adapter_config.json and adapters.safetensors, float32 of
bfloat16 values) and expected/adapter.safetensors: logits of the first tokens
("logits"), the same over weights rounded to bfloat16 ("bf16") and over the model that
quantized_models.py makes ("quantized", float32 scales), and a greedy continuation.
tests/models/adapter_test.cpp compares.
"""

import argparse
import importlib
import json
import pathlib
import sys
import types

import mlx.core as mx
import mlx.utils

import quantized_models
import small_models

# What mlx-lm's tuner prints and trains with wants libraries that are not needed here.
for module, used in (("cli_ui", "rprint"), ("utils", "get_total_parameters")):
    sys.modules[f"mlx_lm.{module}"] = stub = types.ModuleType(f"mlx_lm.{module}")
    setattr(stub, used, None)
tuner = types.ModuleType("mlx_lm.tuner")
tuner.__path__ = [path + "/tuner" for path in small_models.front.__path__]
sys.modules["mlx_lm.tuner"] = tuner
utils = importlib.import_module("mlx_lm.tuner.utils")

RANK, SCALE, TOKENS, GREEDY = 4, 2.5, 80, 30

ATTENTION = [f"self_attn.{part}_proj" for part in "qkvo"]
DENSE = ["mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"]
RECURRENT = [f"linear_attn.{part}" for part in (
    "in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a", "out_proj")]

# The modules that are changed; the others are not.
KEYS = {
    "gemma2": ATTENTION + DENSE,
    "gemma3_text": ATTENTION + DENSE,
    "gemma4": ATTENTION + DENSE + ["per_layer_input_gate", "per_layer_projection"],
    "gemma4_wide": ATTENTION + DENSE,
    "gpt_oss": ATTENTION,
    "latent": ["self_attn.q_a_proj", "self_attn.o_proj"] + DENSE,
    "llama": ATTENTION + DENSE,
    "llama_biased": ATTENTION + DENSE + ["lm_head"],
    "mistral": ["self_attn.q_proj", "self_attn.v_proj"],
    "phi3": ["self_attn.qkv_proj", "self_attn.o_proj", "mlp.gate_up_proj",
             "mlp.down_proj"],
    "qwen2": ATTENTION + DENSE,
    "qwen3": ["self_attn.k_proj", "mlp.up_proj"],
    "qwen35": ATTENTION + DENSE + RECURRENT,
    "qwen3_moe": ATTENTION + DENSE,
}
LAST_LAYERS = {"qwen2": 2}  # of the others, all
# At which mlx-lm's own logits move little by rounded weights: a mixture's choices turn,
# and the small qwen3.5 amplifies what is rounded.
SEEDS = {"gemma4": 2, "gpt_oss": 4, "latent": 2, "phi3": 7, "qwen3": 3, "qwen35": 6,
         "qwen3_moe": 20}


def settings(name):
    return {
        "fine_tune_type": "lora",
        "num_layers": LAST_LAYERS.get(name, -1),
        "lora_parameters": {
            "rank": RANK, "scale": SCALE, "dropout": 0.0, "keys": KEYS[name]},
    }


def adapt(model, name):
    config = settings(name)
    utils.linear_to_lora_layers(model, config["num_layers"], config["lora_parameters"])


def random_factor(name, array):
    size = array.shape[0] ** 0.5  # of what it is multiplied with
    value = mx.random.normal(array.shape) * ((1.0 if name.endswith("a") else 0.1) / size)
    return value.astype(mx.bfloat16).astype(mx.float32)


def write_adapter(name, folder):
    model = small_models.build(small_models.CONFIGS[name])
    adapt(model, name)
    factors = {
        path: random_factor(path, array)
        for path, array in mlx.utils.tree_flatten(model.parameters())
        if path.endswith((".lora_a", ".lora_b"))
    }
    assert factors
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter_config.json").write_text(json.dumps(settings(name), indent=1) + "\n")
    mx.save_safetensors(str(folder / "adapters.safetensors"), factors)
    return len(factors) // 2


def load(name, folder):
    model = small_models.build(small_models.CONFIGS[name])
    model.load_weights(str(folder / "model.safetensors"))
    return model


def write(name, folder):
    mx.random.seed(100 + SEEDS.get(name, 1))
    adapter = folder / "adapter"
    count = write_adapter(name, adapter)
    ids = mx.load(str(folder / "expected" / "logits.safetensors"))["tokens"][:TOKENS]
    expected = {}

    def take(key, model):
        utils.load_adapters(model, str(adapter))
        expected[key] = model(ids[None])[0]
        assert mx.all(mx.isfinite(expected[key])).item()

    model = load(name, folder)
    base = model(ids[None])[0]
    take("logits", model)
    small_models.GREEDY = GREEDY
    prompt = ids[: small_models.GREEDY_PROMPT].tolist()
    expected["greedy"] = mx.array(small_models.greedy(model, prompt), mx.int32)
    model = load(name, folder)
    model.set_dtype(mx.bfloat16)
    model.set_dtype(mx.float32)
    take("bf16", model)
    model = load(name, folder)
    quantized_models.quantize(model)
    take("quantized", model)
    mx.save_safetensors(str(folder / "expected" / "adapter.safetensors"), expected)
    largest = mx.max(mx.abs(expected["logits"])).item()
    moved = mx.max(mx.abs(expected["logits"] - base)).item()
    rounded = mx.max(mx.abs(expected["logits"] - expected["bf16"])).item()
    print(f"{folder}: {count} matrices, largest logit {largest:.2f}, moved by {moved:.2f}, "
          f"by rounded weights {rounded / largest:.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=sorted(KEYS))
    parser.add_argument("--to", type=pathlib.Path,
                        default=small_models.ROOT / "tests/data/models")
    options = parser.parse_args()
    mx.set_default_device(mx.cpu)
    for name in options.names:
        write(name, options.to / name)


if __name__ == "__main__":
    main()
