# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Compares token ids with SentencePiece's over the same vocabulary.

    tokenizer_oracle.py compare BINARY MODEL     ids of `holdfast tokenize`
    tokenizer_oracle.py golden FILE              writes the small golden file

Needs the package sentencepiece alone. A model's vocabulary becomes a
SentencePiece model in memory; the spaces of user-defined pieces, which GGUF
stores as they are, are written as U+2581. Texts are generated from fixed seeds
and hold no U+2581: SentencePiece cannot tell it from a space, GGUF can.
"""

import io
import json
import struct
import subprocess
import sys

import sentencepiece

from tokenizer_texts import edge_texts, random_utf8, sentences, varied_text

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
GOLDEN_PIECES = 2000


def gguf_metadata(path):
    """The metadata of a GGUF file as a dict; strings stay bytes."""
    with open(path, "rb") as file:

        def scalar(code):
            size = struct.calcsize("<" + code)
            return struct.unpack("<" + code, file.read(size))[0]

        def value(kind):
            if kind == 8:
                return file.read(scalar("Q"))
            if kind == 9:
                element, count = scalar("I"), scalar("Q")
                if element in SCALARS:
                    code = f"<{count}{SCALARS[element]}"
                    return struct.unpack(code, file.read(struct.calcsize(code)))
                return [value(element) for _ in range(count)]
            return scalar(SCALARS[kind])

        if file.read(4) != b"GGUF":
            raise SystemExit(f"{path}: no GGUF file")
        scalar("I")
        scalar("Q")
        return {value(8).decode(): value(scalar("I")) for _ in range(scalar("Q"))}


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def field(number, value):
    """One protobuf field: bytes, float, or a number below 2^63."""
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    return varint(number << 3) + varint(value)


def oracle_of(metadata):
    """A SentencePieceProcessor over the vocabulary of a GGUF file."""
    def of(name, otherwise=None):
        return metadata.get("tokenizer.ggml." + name, otherwise)

    unknown = of("unknown_token_id", 0)
    rows = zip(of("tokens"), of("scores"), of("token_type"), strict=True)
    out = io.BytesIO()
    for index, (piece, score, kind) in enumerate(rows):
        if index == unknown:
            kind = UNKNOWN  # SentencePiece insists on one; some files say control
        if kind == USER_DEFINED:
            piece = piece.replace(b" ", "\u2581".encode())
        out.write(field(1, field(1, piece) + field(2, float(score)) + field(3, kind)))
    # trainer: BPE, byte fallback, the unknown piece's id and name
    trainer = field(3, 2) + field(35, 1) + field(40, unknown)
    trainer += field(45, bytes(of("tokens")[unknown]))
    # normalizer: none, but for the space before the text
    prefix = int(of("add_space_prefix", True))
    normalizer = field(1, b"identity") + field(3, prefix) + field(4, 0) + field(5, 1)
    out.write(field(2, trainer) + field(3, normalizer))
    return sentencepiece.SentencePieceProcessor(model_proto=out.getvalue())


def holdfast_ids(binary, model, text):
    command = [binary, "tokenize", "-m", model, "--no-bos", "--json"]
    done = subprocess.run(command, input=text.encode(), capture_output=True)
    if done.returncode != 0:
        raise SystemExit(f"{command}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout.decode())["ids"]


def check(name, got, expected):
    if got == expected:
        print(f"{name}: {len(got)} ids equal")
        return True
    place = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b),
                 min(len(got), len(expected)))
    near = slice(max(place - 3, 0), place + 5)
    print(f"{name}: differs at id {place}: {got[near]}, expected {expected[near]}")
    return False


def compare(binary, model):
    oracle = oracle_of(gguf_metadata(model))
    cases = [("varied text", varied_text(250_000)), ("random UTF-8", random_utf8(250_000))]
    cases += [(f"edge {i}", text) for i, text in enumerate(edge_texts())]
    good = [check(name, holdfast_ids(binary, model, text), oracle.encode(text))
            for name, text in cases]
    return 0 if all(good) else 1


def golden(path):
    """Trains a small BPE model on generated text; writes it and ids of texts."""
    trained = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences(4000)), model_writer=trained,
        model_type="bpe", vocab_size=GOLDEN_PIECES, byte_fallback=True,
        character_coverage=0.999, normalization_rule_name="identity",
        remove_extra_whitespaces=False, add_dummy_prefix=False,
        user_defined_symbols=["<b>", "</b>", "<br>", "\u2581\u2581", "\u2581\u2581\u2581", "\t", "\t\t"],
        num_threads=1, minloglevel=2)
    model = sentencepiece.SentencePieceProcessor(model_proto=trained.getvalue())
    lines = []
    for i in range(model.get_piece_size()):
        kind = (UNKNOWN if model.is_unknown(i) else CONTROL if model.is_control(i)
                else BYTE if model.is_byte(i) else UNUSED if model.is_unused(i) else NORMAL)
        piece = model.id_to_piece(i)
        if kind == NORMAL and piece.strip("\u2581") == "" and len(piece) > 1 or piece in (
                "<b>", "</b>", "<br>", "\t", "\t\t"):
            kind, piece = USER_DEFINED, piece.replace("\u2581", " ")
        score = struct.unpack("<f", struct.pack("<f", model.get_score(i)))[0]
        lines.append(f"piece {kind} {score!r} {piece.encode().hex()}")
    texts = edge_texts() + [varied_text(6000), random_utf8(3000)]
    for text in texts:
        ids = " ".join(map(str, model.encode(text)))
        lines.append(f"text {text.encode().hex() or '-'} {ids}".rstrip())
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    print(f"{path}: {model.get_piece_size()} pieces, {len(texts)} texts")
    return 0


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "compare":
        return compare(*arguments[1:])
    if len(arguments) == 2 and arguments[0] == "golden":
        return golden(arguments[1])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
