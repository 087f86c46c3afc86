# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""mlx-lm's caches with what they are given rounded as holdfast's codecs round.

holdfast stores bf16 until a row's start, then codes whose scales are f16 at 8
bits and bf16 at fewer; MLX's `quantize` gives scales of its input's type. So
keys and values are rounded to bf16 and put into that type, and mlx-lm's
KVCache, its conversion and its QuantizedKVCache do the rest.
"""

import mlx.core as mx

import gemma3_mlx  # noqa: F401  (finds mlx_lm's modules without its front)
from mlx_lm.models.cache import KVCache, QuantizedKVCache


def rounded(array, bits):
    return array.astype(mx.bfloat16).astype(mx.float16 if bits == 8 else mx.bfloat16)


class Quantized(QuantizedKVCache):
    def update_and_fetch(self, keys, values):
        return super().update_and_fetch(
            rounded(keys, self.bits), rounded(values, self.bits))


class Dense(KVCache):
    def __init__(self, bits):
        super().__init__()
        self.bits_to_come = bits

    def update_and_fetch(self, keys, values):
        return super().update_and_fetch(
            rounded(keys, self.bits_to_come), rounded(values, self.bits_to_come))

    def to_quantized(self, group_size=64, bits=4):
        assert bits == self.bits_to_come
        converted = super().to_quantized(group_size, bits)
        converted.__class__ = Quantized
        return converted


def logits(model, ids, bits, group, start):
    """Of all ids [n, vocab], computed as mlx-lm's generate does with kv_bits: a
    chunk ends at `start`, and every cache is quantised behind it. None: never.
    """
    caches = [Dense(bits) for _ in model.layers]
    if start is None:
        return model(mx.array([ids]), cache=caches)[0]
    parts = []
    for part in (ids[:start], ids[start:]):
        if part:
            parts.append(model(mx.array([part]), cache=caches)[0])
            mx.eval(parts[-1])
        if caches[0].offset >= start:
            caches = [
                cache if isinstance(cache, Quantized)
                else cache.to_quantized(group_size=group, bits=bits)
                for cache in caches]
    return mx.concatenate(parts)
