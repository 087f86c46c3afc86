#!/usr/bin/env python3
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""What mlx-lm says of the small models of tests/data/models once MLX has quantised
them: every matrix whose rows are groups of 32, in order of names with 2, 3, 4, 5, 6
and 8 bits in turn, embeddings too.

Writes expected/quantized.safetensors into each folder: logits of the first tokens
with float32 scales ("f32"), and with bfloat16 weights and scales ("bf16"), which are
widened so that all else is float32; how far mlx-lm's own bfloat16 is from that, in
parts of the largest logit ("own"). tests/models/quantized_test.cpp quantises the
same folders in the same way and compares.
"""

import argparse
import pathlib

import mlx.core as mx
import mlx.nn as nn

import small_models

BITS, GROUP, TOKENS = (2, 3, 4, 5, 6, 8), 32, 80


def quantize(model):
    """In place."""
    paths = sorted(
        path + ".weight"
        for path, module in model.named_modules()
        if hasattr(module, "to_quantized")
        and module.weight.ndim == 2 and module.weight.shape[1] % GROUP == 0
        and not path.endswith((".mlp.gate", ".router"))
    )
    kinds = {
        path.removesuffix(".weight"): {"group_size": GROUP, "bits": BITS[i % len(BITS)]}
        for i, path in enumerate(paths)
    }
    nn.quantize(model, class_predicate=lambda path, module: kinds.get(path, False))
    return len(kinds)


def logits(name, folder, dtype):
    """With float32 and, before the weights are widened, with dtype all along."""
    model = small_models.build(small_models.CONFIGS[name])
    model.load_weights(str(folder / "model.safetensors"))
    model.set_dtype(dtype)
    count = quantize(model)
    ids = mx.load(str(folder / "expected" / "logits.safetensors"))["tokens"][:TOKENS]
    names = " ".join(name for name, _ in model.named_modules())
    mixture = "experts" in names or "switch_mlp" in names
    own = None if mixture else model(ids[None])[0].astype(mx.float32)
    model.set_dtype(mx.float32)
    result = model(ids[None])[0]
    assert mx.all(mx.isfinite(result)).item()
    own = result if mixture else own  # on the CPU MLX gathers in float32 alone
    return result, mx.max(mx.abs(own - result)) / mx.max(mx.abs(result)), count


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=sorted(small_models.CONFIGS))
    parser.add_argument("--to", type=pathlib.Path,
                        default=small_models.ROOT / "tests/data/models")
    options = parser.parse_args()
    mx.set_default_device(mx.cpu)
    for name in options.names:
        folder = options.to / name
        wide, _, count = logits(name, folder, mx.float32)
        half, own, _ = logits(name, folder, mx.bfloat16)
        mx.save_safetensors(
            str(folder / "expected" / "quantized.safetensors"),
            {"f32": wide, "bf16": half, "own": own})
        print(f"{folder}: {count} modules, largest logit {mx.max(mx.abs(wide)).item():.2f}, "
              f"bfloat16 all along is {own.item():.3f} off")


if __name__ == "__main__":
    main()
