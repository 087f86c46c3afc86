# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""The small models of small_models.py as MLX quantises them, and their logits."""

import json

import mlx.core as mx
import mlx.nn as nn
import mlx.utils

# Their heads or hidden sizes fit no group.
NOT_QUANTIZED = ("qwen3_5", "gemma4_text", "deepseek_v2")


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


def write_quantized(build, config, model, ids, folder):
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
