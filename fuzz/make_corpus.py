# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the fuzzers' corpora below fuzz/corpus. What a fuzzer
found on its way lies beside them under its hash. Python's own library only.
"""

import pathlib
import struct

HERE = pathlib.Path(__file__).parent / "corpus"
SCALARS = {"B": 0, "b": 1, "H": 2, "h": 3, "I": 4, "i": 5, "f": 6, "?": 7,
           "Q": 10, "q": 11, "d": 12}
STRING, ARRAY = 8, 9
# name: (id, weights of a block, bytes of a block)
TYPES = {"F32": (0, 1, 4), "F16": (1, 1, 2), "Q4_0": (2, 32, 18),
         "Q4_1": (3, 32, 20), "Q5_0": (6, 32, 22), "Q5_1": (7, 32, 24),
         "Q8_0": (8, 32, 34), "Q4_K": (12, 256, 144), "Q5_K": (13, 256, 176),
         "Q6_K": (14, 256, 210), "BF16": (30, 1, 2)}


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def scalar(code, value):
    return struct.pack("<I" + code, SCALARS[code], value)


def array(code, values):
    head = struct.pack("<IIQ", ARRAY, SCALARS[code], len(values))
    return head + struct.pack(f"<{len(values)}{code}", *values)


def texts(values):
    head = struct.pack("<IIQ", ARRAY, STRING, len(values))
    return head + b"".join(map(text, values))


def gguf(keys, tensors, version=3, alignment=32):
    """keys: name -> encoded type and value; tensors: name -> (type, shape)."""
    pad = lambda size: -size % alignment
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(keys))
    for name, value in keys.items():
        out += text(name) + value
    data = b""
    for name, (kind, shape) in tensors.items():
        number, weights, size = TYPES[kind]
        blocks = 1
        for extent in shape:
            blocks *= extent
        blocks //= weights
        data += bytes(pad(len(data)))
        out += text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        out += struct.pack("<IQ", number, len(data))
        data += bytes((31 * i + 7) & 255 for i in range(blocks * size))
    return out + bytes(pad(len(out))) + data


def string(value):
    return struct.pack("<I", STRING) + text(value)


def segment(layouts, extents):
    """A segment without its checksums: the fuzzer makes them where the first
    byte says so. extents: (type, layout or -1, bytes)."""
    pages = lambda size: size + -size % 4096
    directory = b"".join(
        struct.pack(f"<II{len(lengths)}q", len(lengths), 0, *lengths) for lengths in layouts)
    offset = 4096
    checksums = 0
    for kind, layout, size in extents:
        count = len(layouts[layout]) if layout >= 0 else 1
        image = kind == 1
        directory += struct.pack(
            "<IiiIqqQQIIII", kind, 0, 0, layout & 0xffffffff, offset, size,
            9 * image, 8 * image, checksums, count, 64 * image, 0)
        offset += pages(size)
        checksums += count
    directory += bytes(8 * checksums)
    directory += bytes(-len(directory) % 4096)
    head = b"holdfast" + struct.pack(
        "<IIIIQQqqIIII", 1, 4096, 1, 64, 7, 1, offset + len(directory), offset,
        len(layouts), len(extents), checksums, 0)
    head += bytes(4096 - len(head))
    return b"\x01" + head + bytes(offset - 4096) + directory


def write_segments():
    folder = HERE / "segment"
    folder.mkdir(parents=True, exist_ok=True)
    seeds = {
        "seed_object": segment([], [(3, -1, 100)]),
        "seed_image": segment([[1024, 3072]], [(1, 0, 4096), (2, -1, 4097)]),
    }
    for name, data in seeds.items():
        (folder / name).write_bytes(data)


def body(parts):
    """parts: name -> (version, bytes)."""
    out = b"HoFbody\x01" + struct.pack("<I", len(parts))
    for name, (version, data) in sorted(parts.items()):
        out += struct.pack("<B", len(name)) + name.encode()
        out += struct.pack("<IQ", version, len(data)) + data
    return out


def write_bodies():
    folder = HERE / "record_body"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "seed_two").write_bytes(body({"model": (1, b""), "tree": (3, b"a\0b")}))


def main():
    write_segments()
    write_bodies()
    folder = HERE / "gguf"
    folder.mkdir(parents=True, exist_ok=True)
    every_scalar = {f"s.{code}": scalar(code, 1) for code in SCALARS}
    every_array = {f"a.{code}": array(code, [1, 0]) for code in SCALARS}
    every_type = {
        kind: (kind, [weights, 2]) for kind, (_, weights, _) in TYPES.items()}
    vocabulary = {
        "general.architecture": string("gemma3"),
        "general.alignment": scalar("I", 64),
        "gemma3.block_count": scalar("I", 2),
        "gemma3.rope.freq_base": scalar("f", 1e6),
        "tokenizer.ggml.tokens": texts(["<pad>", "<eos>", "", "\u2581a"]),
        "tokenizer.ggml.scores": array("f", [0, -1, -2, -3]),
        "tokenizer.ggml.token_type": array("i", [3, 3, 1, 1]),
        "split.count": scalar("H", 1),
    }
    seeds = {
        "seed_empty": gguf({}, {}),
        "seed_scalars": gguf(every_scalar | {"s.text": string("x")}, {}),
        "seed_arrays": gguf(every_array, {}),
        "seed_types": gguf({}, every_type),
        "seed_model": gguf(
            vocabulary,
            {"a": ("F32", [4]), "b": ("Q8_0", [32, 2, 1, 2])},
            alignment=64),
        "seed_v2": gguf({"k": string("v")}, {"t": ("F16", [3])}, version=2),
    }
    for name, data in seeds.items():
        (folder / name).write_bytes(data)


main()
