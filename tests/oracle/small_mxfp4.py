# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""The small gpt-oss of small_models.py with its experts in MXFP4, as MLX converts
the published checkpoints, and its logits."""

import json

import mlx.core as mx
import mlx.nn as nn
import mlx.utils

KIND = {"group_size": 32, "bits": 4, "mode": "mxfp4"}


def write_mxfp4(build, config, model, ids, folder):
    """Logits: what the weights that the codes stand for give in float32."""
    paths = {
        path: "mlp.experts" in path
        for path, module in model.named_modules()
        if hasattr(module, "to_quantized")
    }
    model.set_dtype(mx.bfloat16)
    nn.quantize(model, **KIND, class_predicate=lambda path, _: paths.get(path, False))
    weights = dict(mlx.utils.tree_flatten(model.parameters()))
    quantization = KIND | {path: False for path, mixed in paths.items() if not mixed}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(
        json.dumps(config | {"quantization": quantization}, indent=1) + "\n"
    )
    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    dense = {
        name: w.astype(mx.float32)
        for name, w in weights.items() if w.dtype == mx.bfloat16
    }
    for path, mixed in paths.items():
        if mixed:
            dense[f"{path}.weight"] = mx.dequantize(
                weights[f"{path}.weight"], weights[f"{path}.scales"], **KIND
            ).astype(mx.float32)
    (folder / "expected").mkdir(exist_ok=True)
    mx.save_safetensors(
        str(folder / "expected" / "logits.safetensors"),
        {"tokens": ids.astype(mx.int32),
         "logits": build(config, list(dense.items()))(ids[None])[0]},
    )
