# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the fuzzers' corpora below fuzz/corpus. What a fuzzer
found on its way lies beside them under its hash. Python's own library only.
"""

import json
import pathlib
import struct

from folder_corpus import write_folders

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


def resume_point(fields, rows):
    """Without its checksum, as segment(). rows: (prompt, ids, logged, text, held)."""
    out = b"hf-point" + struct.pack("<IIII", 1, len(fields), len(rows), 0)
    for name, value in fields:
        name, value = name.encode(), value.encode()
        out += struct.pack("<II", len(name), len(value)) + name + value
    for prompt, ids, logged, written, held in rows:
        count = len(ids) * logged
        out += struct.pack(
            "<IIIIII", len(prompt), len(ids), logged, len(written), len(held), 0)
        out += struct.pack(f"<{len(prompt)}i{len(ids)}i", *prompt, *ids)
        out += struct.pack(f"<{count}i{count}d", *range(count), *([-0.5] * count))
        out += written + held
    return b"\x01" + out + bytes(8)


def write_resume_points():
    folder = HERE / "resume_point"
    folder.mkdir(parents=True, exist_ok=True)
    seeds = {
        "seed_empty": resume_point([], []),
        "seed_rows": resume_point(
            [("temperature", "0.8"), ("stop", "")],
            [([2, 7], [5, 6], 2, b"ab", b"\xc3"), ([1], [], 0, b"", b"")]),
    }
    for name, data in seeds.items():
        (folder / name).write_bytes(data)


def tensor(kind, item, shape):
    """A stored tensor without its checksum: the fuzzer makes it."""
    size = item
    for extent in shape:
        size *= extent
    used = 32 + 4 * len(shape) + 8
    header_bytes = used + -used % 64
    head = b"hftensor" + struct.pack(
        "<HHHHIIQ", 1, header_bytes, kind, 1, len(shape), 0, 0)
    head += struct.pack(f"<{len(shape)}i", *shape)
    head += bytes(header_bytes - 8 - len(head)) + struct.pack("<Q", size)
    return b"\x01" + head + bytes(i & 255 for i in range(size))


def write_tensors():
    folder = HERE / "tensor"
    folder.mkdir(parents=True, exist_ok=True)
    seeds = {
        "seed_scalar": tensor(12, 4, []),
        "seed_matrix": tensor(11, 2, [3, 5]),
        "seed_empty": tensor(13, 8, [2, 0, 4]),
        "seed_deep": tensor(2, 1, [1] * 64),
    }
    for name, data in seeds.items():
        (folder / name).write_bytes(data)


def conversation(nodes, body=b""):
    """A conversation without its checksums, as segment(). nodes: (tokens, images), images:
    (group, phase, bytes, frame or None)."""
    data = body
    piece = lambda packed, stored, size: struct.pack("<IIqqQ", packed, 0, stored, size, 0)
    directory = b"".join(struct.pack("<I", len(part)) + part for part in (b"s", b"chat", b"n"))
    directory += struct.pack("<Qq", 1, sum(tokens for tokens, _ in nodes))
    directory += piece(0, len(body), len(body))
    for tokens, images in nodes:
        directory += struct.pack(f"<IIq{tokens}iI", tokens, len(images), 1, *range(tokens), 0)
        for group, phase, size, frame in images:
            stored = bytes(size) if frame is None else frame
            directory += struct.pack("<ii", group, phase)
            directory += piece(frame is not None, len(stored), size)
            data += stored
    size = 64 + len(data) + len(directory)
    images = sum(len(images) for _, images in nodes)
    head = b"holdconv" + struct.pack(
        "<IIIIqqIIQQ", 1, 1, 64, 0, size, 64 + len(data), len(nodes), images, 0, 0)
    return b"\x01" + head + data + directory


def write_conversations():
    folder = HERE / "conversation"
    folder.mkdir(parents=True, exist_ok=True)
    # zstd: magic, one segment of 4096 bytes, one last block of 4096 zeros
    frame = bytes.fromhex("28b52ffd60000f03800000")
    seeds = {
        "seed_empty": conversation([]),
        "seed_plain": conversation([(64, [(0, 0, 4096, None)]), (3, [])], b"body"),
        "seed_packed": conversation([(5, [(0, 0, 4096, frame), (1, 2, 4096, None)])]),
    }
    for name, data in seeds.items():
        (folder / name).write_bytes(data)


def safetensors(tensors, metadata):
    """tensors: name -> (type, shape, bytes)."""
    header, data = {}, b""
    for name, (kind, shape, content) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape,
                        "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps({"__metadata__": metadata} | header).encode()
    return struct.pack("<Q", len(text)) + text + data


def write_caches():
    """Caches of mlx-lm: numbers as tensors, and as texts."""
    folder = HERE / "mlx_cache"
    folder.mkdir(parents=True, exist_ok=True)
    vectors = lambda slots, dim: ("BF16", [1, 1, slots, dim], bytes(2 * slots * dim))
    number = lambda value: ("I32", [], struct.pack("<i", value))
    codes = ("U32", [1, 1, 1, 4], bytes(16))
    scale = ("F16", [1, 1, 1, 1], bytes(2))
    quantized = {f"0.{i}.{j}": part for i in range(2)
                 for j, part in enumerate((codes, scale, scale))}
    seeds = {
        "seed_state": safetensors(
            {"0.0": vectors(4, 2), "0.1": vectors(4, 2), "0.2": number(3)},
            {"1.0": "KVCache", "2.0": "", "2.1.0": "0.2", "2.1.1": "scalar"}),
        "seed_ring": safetensors(
            {"0.0": vectors(4, 2), "0.1": vectors(4, 2), "0.2": number(9),
             "0.3": number(0), "0.4": number(4), "0.5": number(1)},
            {"1.0": "RotatingKVCache", "2.0": ""}),
        "seed_before": safetensors(
            {"0.0": vectors(3, 2), "0.1": vectors(3, 2)},
            {"0.0": "", "1.model": "m", "2.0": "KVCache"}),
        "seed_quantized": safetensors(
            quantized,
            {"0.0.0": "1", "0.0.1": "32", "0.0.2": "4", "2.0": "QuantizedKVCache"}),
        "seed_arrays": safetensors(
            {"0.0": ("F32", [1, 3, 8], bytes(96)), "0.1": ("F32", [1, 2, 2, 2], bytes(32))},
            {"0.0": "", "2.0": "ArraysCache"}),
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


def write_tokenizers():
    """'@' and '$' are the pieces of all bytes: see tokenizer_json_fuzz.cpp."""
    folder = HERE / "tokenizer_json"
    folder.mkdir(parents=True, exist_ok=True)
    split = lambda **how: {"type": "Split", "behavior": "Isolated", "invert": False, **how}
    levels = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    meta = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": True}
    marks = [{"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"},
             {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]
    added = [{"id": 300, "content": "<s>", "special": True, "rstrip": True, "normalized": False},
             {"id": 301, "content": "Tag", "special": False, "lstrip": True, "single_word": True, "normalized": True}]
    start = {"type": "TemplateProcessing", "pair": [], "special_tokens": {"<s>": {"ids": [300]}},
             "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}]}
    words = r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"

    def document(pieces, normalizer, words, decoder, **model):
        whole = {"version": "1.0", "added_tokens": added, "normalizer": normalizer, "pre_tokenizer": words,
                 "post_processor": start, "decoder": decoder,
                 "model": {"type": "BPE", **model, "vocab": {"PIECES": 0}, "merges": ["a b", ["ab", "c"]]}}
        text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
        return text.replace('"PIECES":0', pieces + ',"ab":256,"abc":257').encode()

    seeds = {
        "seed_byte_level": document("@", {"type": "NFC"}, {"type": "Sequence", "pretokenizers": [
            split(pattern={"Regex": words}), levels]}, levels, ignore_merges=True),
        "seed_digits": document("@", {"type": "Sequence", "normalizers": [{"type": "Lowercase"}, {"type": "NFKD"}]},
                                {"type": "Sequence", "pretokenizers": [
                                    {"type": "Digits", "individual_digits": True}, {**levels, "use_regex": True}]}, levels),
        "seed_fallback": document('$,"<unk>":258,"a":259,"b":260,"c":261', {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "\u2581"}, {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]},
            None, {"type": "Sequence", "decoders": marks}, unk_token="<unk>", fuse_unk=True, byte_fallback=True),
        "seed_metaspace": document('"<unk>":0,"a":1,"b":2,"c":3,"\u2581":4', {"type": "Strip", "strip_left": True,
                                   "strip_right": True}, meta, meta, unk_token="<unk>", fuse_unk=True),
    }
    for name, data in seeds.items():
        (folder / name).write_bytes(data + b"\0abc 1234 <s> Tag e\xcc\x81 \xff it's\r\n")
    folder = HERE / "tokenizer_model"
    folder.mkdir(parents=True, exist_ok=True)
    field = lambda number, value: bytes([number << 3 | 2, len(value)]) + value
    piece = lambda text, score, kind: field(
        1, field(1, text) + b"\x15" + struct.pack("<f", score) + bytes([3 << 3, kind]))
    pieces = piece(b"<unk>", 0, 2) + piece(b"<s>", 0, 3) + piece(b"</s>", 0, 3) + piece(b"ab", -1, 1)
    pieces += piece(b"a", -3, 1) + piece(b"b", -3, 5) + piece(b"\xe2\x96\x81\xe2\x96\x81", 0, 4)
    (folder / "seed_bpe").write_bytes(
        b"a" + pieces + field(2, bytes([3 << 3, 2])) + field(3, bytes([3 << 3, 1, 4 << 3, 0])))
    (folder / "seed_unigram").write_bytes(b"b" + pieces + field(2, bytes([3 << 3, 1])))


def history(turns, version=2, **more):
    """As JSON; turns: (parent, shared, fields of the tokens)."""
    texts = {"system": "", "user": "a", "answer": "b", "finish": "eos"}
    return json.dumps({
        "version": version, "vocabulary": "v", "system": "s", "seed": 7, "begun": 1,
        "current": len(turns) - 1,
        "turns": [{"parent": parent, "shared": shared} | texts | tokens
                  for parent, shared, tokens in turns]} | more).encode()


def write_histories():
    folder = HERE / "chat_history"
    folder.mkdir(parents=True, exist_ok=True)
    stored = lambda prompt, count, own: {"prompt": prompt, "stored": count, "tokens": own}
    turns = [(-1, 0, stored(2, 3, [])), (0, 3, stored(1, 2, [9])), (0, 1, stored(1, 0, [8, 7]))]
    second = history(turns, current=1)
    first = history([(-1, 0, {"prompt": [1, 2], "ids": [3]})], version=1,
                    pending={"system": "", "user": "c"})
    # zstd: magic, one segment of that size (two bytes, less 256), one raw block
    frame = bytes.fromhex("28b52ffd60") + struct.pack("<H", len(second) - 256)
    frame += struct.pack("<I", len(second) << 3 | 1)[:3] + second
    seeds = {
        "seed_none": b"\x00\x00" + history([]),
        "seed_first": b"\x00\x00" + first,
        "seed_second": b"\x00\x05" + second,
        "seed_packed": b"\x01\x05" + struct.pack("<Q", len(second)) + frame,
    }
    for name, data in seeds.items():
        (folder / name).write_bytes(data)


def main():
    write_histories()
    write_folders(HERE, safetensors)
    write_segments()
    write_resume_points()
    write_tensors()
    write_conversations()
    write_caches()
    write_bodies()
    write_tokenizers()
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
