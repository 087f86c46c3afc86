# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Compares ids and decoded text with the tokenizers library and SentencePiece.

    tokenizer_forms.py compare BINARY [--short]
                                         `holdfast tokenize` over every family of
                                         tokenizer_families.py, in each form:
                                         tokenizer.json, GGUF, tokenizer.model;
                                         or over those of published models alone
    tokenizer_forms.py golden FILE       the small golden file
    tokenizer_forms.py speed BINARY      encoding beside the tokenizers library,
                                         one thread each

Ids: 200 kB of varied text, 200 kB of random UTF-8, edge cases, each added token
in several surroundings, and every character of Unicode 14 before a letter. Texts:
of all those ids, and of random ids, with control tokens and without.
"""

import functools
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time
import unicodedata

import gguf
import sentencepiece
from tokenizers import Regex, Tokenizer, pre_tokenizers

import tokenizer_families
from tokenizer_texts import edge_texts, random_utf8, varied_text



@functools.cache
def newer():
    """Characters that Unicode has had since version 14, which PCRE2's tables and
    those of Python 3.11 are of; the oracle's are newer."""
    unassigned = pre_tokenizers.Split(Regex(r"\p{Cn}"), "removed", invert=True)
    points = [chr(point) for point in range(0x110000) if not 0xD800 <= point <= 0xDFFF]
    points = [c for c in points if unicodedata.category(c) == "Cn"]
    still = {c for word, _ in unassigned.pre_tokenize_str("".join(points)) for c in word}
    return set(points) - still


def known(text):
    return "".join(c for c in text if c not in newer())


def every_character():
    """Each assigned character twice before a letter, in one text."""
    points = (chr(point) for point in range(0x110000))
    return "".join(f" {c}{c}a" for c in points if unicodedata.category(c) not in ("Cn", "Co", "Cs"))


def texts_of(spec):
    added = [token["content"] for token in spec["added_tokens"]]
    texts = edge_texts() + [varied_text(200_000), known(random_utf8(200_000)), every_character()]
    for token in added:
        texts += [f"a {token}b {token}", f"{token}{token} x{token}1 {token} \n {token}", f"({token})", token.upper()]
    return texts + ["   ".join(added) + " Z"]


def id_lists(spec):
    """No byte pieces: a run of them that is not UTF-8 shows as U+FFFD for each
    byte there, and for each maximal subpart here."""
    bytes_too = not spec["model"]["byte_fallback"]
    ids = [i for piece, i in spec["model"]["vocab"].items() if bytes_too or not re.fullmatch("<0x..>", piece)]
    ids += [token["id"] for token in spec["added_tokens"]]
    source = random.Random(5)
    return [source.choices(ids, k=source.randrange(1, 60)) for _ in range(300)]


class Runner:
    """Runs `holdfast tokenize` over many texts at once."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, pathlib.Path(folder)

    def run(self, path, inputs, *options):
        command = [self.binary, "tokenize", "-m", str(path), "--json", *options]
        for i, text in enumerate(inputs):
            name = self.folder / f"text_{i}"
            name.write_bytes(text.encode())
            command += ["-f", str(name)]
        done = subprocess.run(command, capture_output=True)
        if done.returncode != 0:
            raise SystemExit(f"{path}: {done.stderr.decode(errors='replace')}")
        return [json.loads(line) for line in done.stdout.decode().split("\n") if line]

    def ids(self, path, texts, *options):
        return [line["ids"] for line in self.run(path, texts, *options)]

    def texts(self, path, lists, *options):
        words = [" ".join(map(str, ids)) for ids in lists]
        return [line["text"] for line in self.run(path, words, "--decode", *options)]


def differs(what, got, expected):
    """Prints where the two part; 1 where they do."""
    if got == expected:
        return 0
    place = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b),
                 min(len(got), len(expected)))
    near = slice(max(place - 5, 0), place + 8)
    print(f"{what}: differs at {place}: {got[near]!r}, expected {expected[near]!r}")
    return 1


def compare_family(runner, name, spec):
    path = runner.folder / f"{name}.json"
    path.write_text(json.dumps(spec, ensure_ascii=False), encoding="utf-8")
    oracle = Tokenizer.from_file(str(path))
    texts = texts_of(spec)
    expected = [oracle.encode(text).ids for text in texts]
    got = runner.ids(path, texts, "--special")
    wrong = sum(differs(f"{name}, text {i}", *pair) for i, pair in enumerate(zip(got, expected, strict=True)))
    lists = expected + id_lists(spec)
    for options, skip in (((), True), (("--special",), False)):
        shown = runner.texts(path, lists, *options)
        for i, (ids, text) in enumerate(zip(lists, shown, strict=True)):
            wanted = oracle.decode(ids, skip_special_tokens=skip)
            wrong += differs(f"{name}, text of ids {i}", text, wanted)
    forms = ["tokenizer.json"]
    if name in tokenizer_families.GGUF_NAMES:
        forms.append("GGUF")
        wrong += compare_gguf(runner, name, spec, texts, expected)
    print(f"{name}: {len(texts)} texts, {sum(map(len, expected))} ids, {2 * len(lists)} id lists, "
          f"{' and '.join(forms)}: {wrong or 'none'} differ")
    return wrong


def write_gguf(path, name, spec):
    pieces = {i: piece for piece, i in spec["model"]["vocab"].items()}
    kinds = {i: gguf.TokenType.NORMAL for i in pieces}
    for token in spec["added_tokens"]:
        pieces[token["id"]] = token["content"]
        kinds[token["id"]] = gguf.TokenType.CONTROL if token["special"] else gguf.TokenType.USER_DEFINED
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(tokenizer_families.GGUF_NAMES[name])
    writer.add_token_list([pieces[i] for i in range(len(pieces))])
    writer.add_token_types([kinds[i] for i in range(len(pieces))])
    writer.add_token_merges([pair if isinstance(pair, str) else " ".join(pair) for pair in spec["model"]["merges"]])
    first = next(i for i in sorted(pieces) if kinds[i] == gguf.TokenType.CONTROL)
    writer.add_bos_token_id(first)
    writer.add_eos_token_id(first)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def compare_gguf(runner, name, spec, texts, expected):
    """GGUF says nothing of white space beside a token; no family here has any."""
    path = runner.folder / f"{name}.gguf"
    write_gguf(path, name, spec)
    got = runner.ids(path, texts, "--special")
    return sum(differs(f"{name} in GGUF, text {i}", *pair) for i, pair in enumerate(zip(got, expected, strict=True)))


def compare_model(runner, prefix):
    """A tokenizer.model against SentencePiece itself."""
    data = tokenizer_families.sentencepiece_model(prefix)
    name = f"tokenizer.model, {'a' if prefix else 'no'} space before"
    path = runner.folder / "trained.model"
    path.write_bytes(data)
    oracle = sentencepiece.SentencePieceProcessor(model_proto=data)
    texts = edge_texts() + [varied_text(200_000), random_utf8(200_000)]
    if prefix:  # before each stretch of plain text here, before the text there
        pieces = ("<b>", "</b>", "<table>", "\t", "\n\n", "  ")
        # A space at the begin is one such piece, "  ", with the one before it.
        texts = [re.sub("^ |" + "|".join(map(re.escape, pieces)), "-", text) for text in texts]
    expected = [oracle.encode(text, add_bos=True) for text in texts]
    wrong = sum(differs(f"{name}, text {i}", *pair)
                for i, pair in enumerate(zip(runner.ids(path, texts), expected, strict=True)))
    shown = runner.texts(path, expected)
    wrong += sum(differs(f"{name}, text of ids {i}", text, oracle.decode(ids))
                 for i, (text, ids) in enumerate(zip(shown, expected, strict=True)))
    print(f"{name}: {len(texts)} texts, {sum(map(len, expected))} ids: {wrong or 'none'} differ")
    return wrong


def is_published(name):
    """Not made up here to reach every step that a file may ask for."""
    return not name.startswith(("split-", "lower", "decomposed", "metaspace"))


def compare(binary, short=False):
    families = {name: spec for name, spec in tokenizer_families.families().items()
                if is_published(name) or not short}
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(binary, folder)
        wrong = sum(compare_family(runner, *pair) for pair in families.items())
        wrong += compare_model(runner, True) + compare_model(runner, False)
    return 1 if wrong else 0


def golden(path):
    """Vocabularies once, the families without them, and what the library says."""
    tokenizer_families.shrink()
    texts = edge_texts() + [varied_text(1500), random_utf8(400)]
    result = {"vocabularies": {}, "families": {}}
    for name, spec in tokenizer_families.families().items():
        oracle = Tokenizer.from_str(json.dumps(spec))
        own = texts + [f"a {token['content']} b{token['content']}" for token in spec["added_tokens"]]
        kind = "marked" if spec["model"]["byte_fallback"] or "<unk>" in spec["model"]["vocab"] else "bytes"
        model = spec["model"]
        result["vocabularies"][kind] = {
            "vocab": model.pop("vocab"),
            "merges": [line if isinstance(line, list) else line.split(" ") for line in model.pop("merges")]}
        encoded = [oracle.encode(text).ids for text in own]
        result["families"][name] = {
            "file": spec, "vocabulary": kind,
            "texts": [{"text": text, "ids": ids, "decoded": oracle.decode(ids, skip_special_tokens=False)}
                      for text, ids in zip(own, encoded)]}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(result, file, ensure_ascii=True, separators=(",", ":"))
        file.write("\n")
    print(f"{path}: {len(result['families'])} families")
    return 0


def speed(binary):
    """Of ours the time that 8 texts take longer than 1, so without loading."""
    text = varied_text(4_000_000)
    size = len(text.encode()) / 1e6
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(binary, folder)
        runner.folder.joinpath("text").write_text(text, encoding="utf-8")
        for name in ["llama3", "qwen2", "gpt-oss", "llama2", "gemma"]:
            path = runner.folder / f"{name}.json"
            path.write_text(json.dumps(tokenizer_families.families()[name]), encoding="utf-8")
            oracle = Tokenizer.from_file(str(path))

            def timed(call):
                start = time.perf_counter()
                call()
                return time.perf_counter() - start

            def ours(count):
                files = ["-f", str(runner.folder / "text")] * count
                subprocess.run([binary, "tokenize", "-m", str(path), *files], check=True, stdout=subprocess.DEVNULL)

            one, eight = (min(timed(lambda: ours(count)) for _ in range(3)) for count in (1, 8))
            theirs = min(timed(lambda: oracle.encode(text)) for _ in range(3))
            print(f"{name}: {7 * size / (eight - one):.1f} MB/s, tokenizers {size / theirs:.1f} MB/s")
    return 0


def main(arguments):
    if arguments[:1] == ["compare"] and arguments[2:] in ([], ["--short"]):
        return compare(arguments[1], short=len(arguments) == 3)
    if len(arguments) == 2 and arguments[0] == "golden":
        return golden(arguments[1])
    if len(arguments) == 2 and arguments[0] == "speed":
        return speed(arguments[1])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
