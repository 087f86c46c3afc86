# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Writes gguf_golden.bin beside this file: random blocks of every tensor type
that holdfast reads, and their values as the Python package `gguf` (0.19, with
numpy) decodes them. Per type, little-endian: u32 type id, u32 weights, u32
bytes, the blocks, the weights as f32. Needed only to make the file anew.
"""

import pathlib
import struct

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType as Type
from gguf.quants import dequantize

# Where f16 numbers stand in a block; they are made finite.
FLOATS = {
    Type.F32: [], Type.F16: [0], Type.BF16: [],
    Type.Q4_0: [0], Type.Q4_1: [0, 2], Type.Q5_0: [0], Type.Q5_1: [0, 2],
    Type.Q8_0: [0], Type.Q4_K: [0, 2], Type.Q5_K: [0, 2], Type.Q6_K: [208],
    Type.MXFP4: [],
}


def finite_f16(rng, count):
    bits = rng.integers(0, 1 << 16, count, dtype=np.uint16)
    bits[(bits & 0x7C00) == 0x7C00] &= 0xBFFF  # clears an exponent bit
    return bits


def make(rng, kind):
    weights, size = GGML_QUANT_SIZES[kind]
    blocks = {1: 256, 32: 8, 256: 6}[weights]
    if kind in (Type.F32, Type.BF16):
        values = rng.standard_normal(blocks).astype(np.float32)
        data = values.view(np.uint8).reshape(blocks, 4)
        return data if kind == Type.F32 else np.ascontiguousarray(data[:, 2:])
    data = rng.integers(0, 256, (blocks, size), dtype=np.uint8)
    if kind == Type.MXFP4:
        data[:, 0] %= 251  # 6 * 2^124 is the largest that f32 holds
    for at in FLOATS[kind]:
        data[:, at : at + 2] = finite_f16(rng, blocks).view(np.uint8).reshape(-1, 2)
    return data


def main():
    rng = np.random.default_rng(20260101)
    with open(pathlib.Path(__file__).with_name("gguf_golden.bin"), "wb") as out:
        for kind in FLOATS:
            data = make(rng, kind)
            if kind == Type.F32:
                values = data.view(np.float32)
            else:
                values = dequantize(data, kind)
            values = np.ascontiguousarray(values, dtype=np.float32).ravel()
            out.write(struct.pack("<3I", kind, values.size, data.size))
            out.write(data.tobytes())
            out.write(values.tobytes())


main()
