# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Tokenizers of the families, as their published tokenizer.json set them up, over
small vocabularies that are trained on generated text. Each is a dict that is
written as a tokenizer.json; GGUF_NAMES says what GGUF calls its words.
"""

import copy
import functools
import io
import json

import sentencepiece
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from tokenizer_texts import sentences, varied_text

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LLAMA3 = (CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
QWEN2 = (CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
         r"|\s+(?!\S)|\s+")
QWEN35 = (CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
GPT4O = "|".join([
    rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTIONS}?", rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CONTRACTIONS}?",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
TEKKEN = "|".join([
    rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+", rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*",
    r"\p{N}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])

# What tokenizer.ggml.pre calls the words of a family.
GGUF_NAMES = {"gpt2": "gpt-2", "llama3": "llama-bpe", "qwen2": "qwen2", "qwen3": "qwen2", "qwen35": "qwen35",
              "gpt-oss": "gpt-4o", "mistral-nemo": "tekken", "smollm": "smollm"}


def token(content, special=True, **flags):
    return {"content": content, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": special, **flags}


def split(pattern, behavior="Isolated", invert=False):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


def byte_level(prefix=False, regex=False):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}


def sequence(kind, *parts):
    return {"type": "Sequence", kind: list(parts)}


def template(before, after=None):
    """One token before the text and maybe one behind it: (content, id)."""
    def of(kind):
        return [{kind[0]: {"id": name, "type_id": 0}} for name in kind[1]]
    single = of(("SpecialToken", [before] if before else [])) + of(("Sequence", ["A"]))
    single += of(("SpecialToken", [after] if after else []))
    return {"type": "TemplateProcessing", "single": single, "pair": single + of(("Sequence", ["B"])),
            "special_tokens": {}}


def replace(pattern, content):
    return {"type": "Replace", "pattern": {"String": pattern}, "content": content}


MARKS = [replace("\u2581", " "), {"type": "ByteFallback"}, {"type": "Fuse"}]
STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}


SIZES = {"bytes": 4000, "marked": 3000}


def shrink():
    """Vocabularies for a golden file."""
    SIZES.update(bytes=700, marked=1000)


@functools.cache
def byte_vocabulary():
    """(pieces, merges) of a byte-level BPE."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(vocab_size=SIZES["bytes"], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(sentences(4000) + [varied_text(60_000)], trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return sorted(model["vocab"], key=model["vocab"].get), model["merges"]


@functools.cache
def sentencepiece_model(prefix=True):
    """The bytes of a trained tokenizer.model: BPE with byte fallback."""
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences(4000)), model_writer=out, model_type="bpe", vocab_size=SIZES["marked"],
        byte_fallback=True, character_coverage=0.999, normalization_rule_name="identity",
        remove_extra_whitespaces=False, add_dummy_prefix=prefix,
        user_defined_symbols=["<b>", "</b>", "<table>", "\u2581\u2581", "\u2581\u2581\u2581", "\t", "\n\n"],
        num_threads=1, minloglevel=2)
    return out.getvalue()


@functools.cache
def marked_vocabulary():
    """(pieces, merges) of the trained tokenizer.model: all pairs that make a
    piece, the highest score first, as the hubs' converter extracts them."""
    model = sentencepiece.SentencePieceProcessor(model_proto=sentencepiece_model())
    pieces = [model.id_to_piece(i) for i in range(model.get_piece_size())]
    ids = {piece: i for i, piece in enumerate(pieces)}
    merges = []
    for i, piece in enumerate(pieces):
        if model.is_control(i) or model.is_unknown(i) or model.is_byte(i) or model.get_score(i) == 0:
            continue
        pairs = [(piece[:k], piece[k:]) for k in range(1, len(piece))]
        pairs = [pair for pair in pairs if pair[0] in ids and pair[1] in ids]
        pairs.sort(key=lambda pair: (ids[pair[0]], ids[pair[1]]))
        merges += [(model.get_score(i), pair) for pair in pairs]
    merges.sort(key=lambda merge: -merge[0])
    return pieces, [list(pair) for _, pair in merges]


def tokenizer_json(pieces, merges, added, model=None, **parts):
    """added: tokens; one that is a piece gets its id, others follow."""
    pieces = list(pieces)
    ids = {piece: i for i, piece in enumerate(pieces)}
    listed = []
    for one in added:
        ids.setdefault(one["content"], len(ids))
        listed.append({"id": ids[one["content"]], **one})
    listed.sort(key=lambda one: one["id"])
    post = copy.deepcopy(parts.get("post_processor"))
    for part in [post] + (post or {}).get("processors", []):
        for item in (part or {}).get("single", []):
            if "SpecialToken" in item:
                name = item["SpecialToken"]["id"]
                part["special_tokens"][name] = {"id": name, "ids": [ids[name]], "tokens": [name]}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": listed,
            "normalizer": None, "pre_tokenizer": None, **parts, "post_processor": post,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                      "ignore_merges": False, **(model or {}),
                      "vocab": {piece: i for i, piece in enumerate(pieces)}, "merges": merges}}


def byte_family(added, words, model=None, normalizer=None, post=None):
    pieces, merges = byte_vocabulary()
    return tokenizer_json(pieces, merges, added, model, normalizer=normalizer, pre_tokenizer=words,
                          post_processor=post or byte_level(), decoder=byte_level(True, True))


def marked_family(added, model=None, **parts):
    pieces, merges = marked_vocabulary()
    usual = {"unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True}
    usual_added = [token("<unk>"), token("<s>"), token("</s>")]
    return tokenizer_json(pieces, merges, usual_added + added, {**usual, **(model or {})}, **parts)


def families():
    """Name -> tokenizer.json."""
    nfc = {"type": "NFC"}
    begin, turn = token("<|begin_of_text|>"), token("<|eot_id|>")
    text, start, end = token("<|endoftext|>"), token("<|im_start|>"), token("<|im_end|>")
    think = [token("<think>", False), token("</think>", False), token("<tool_call>", False)]
    old_lines = [" ".join(pair) for pair in byte_vocabulary()[1]]
    llama2 = sequence("normalizers", {"type": "Prepend", "prepend": "\u2581"}, replace(" ", "\u2581"))
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": False}
    html = [token(name, False) for name in ["<b>", "</b>", "<table>", "\n\n", "\u2581\u2581", "\u2581\u2581\u2581"]]
    cut = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    result = {
        "gpt2": byte_family([text], byte_level(False, True)),
        "llama3": byte_family(
            [begin, turn, token("<|start_header_id|>")], sequence("pretokenizers", split(LLAMA3), byte_level()),
            {"ignore_merges": True}, post=sequence("processors", byte_level(True, True), template(begin["content"]))),
        "qwen2": byte_family([text, start, end], sequence("pretokenizers", split(QWEN2), byte_level()), normalizer=nfc),
        "qwen3": byte_family([text, start, end] + think,
                             sequence("pretokenizers", split(QWEN2), byte_level()), normalizer=nfc),
        "qwen35": byte_family([text, start, end] + think,
                              sequence("pretokenizers", split(QWEN35), byte_level()), normalizer=nfc),
        "gpt-oss": byte_family([token("<|startoftext|>"), token("<|start|>"), token("<|return|>"), token("<|call|>")],
                               sequence("pretokenizers", split(GPT4O), byte_level())),
        "mistral-nemo": byte_family(
            [token("<s>"), token("[INST]"), token("[/INST]")], sequence("pretokenizers", split(TEKKEN), byte_level()),
            {"ignore_merges": True}, post=template("<s>")),
        "smollm": byte_family([text, start, end], sequence(
            "pretokenizers", {"type": "Digits", "individual_digits": True}, byte_level(False, True))),
        "llama2": marked_family([], normalizer=llama2, post_processor=template("<s>"),
                                decoder=sequence("decoders", *MARKS, STRIP)),
        "phi3": marked_family([token("<|user|>", rstrip=True), token("<|end|>", rstrip=True),
                               token("<|assistant|>", rstrip=True)],
                              normalizer=llama2, post_processor=template("<s>"),
                              decoder=sequence("decoders", *MARKS, STRIP)),
        "mistral": marked_family([token("[INST]"), token("[/INST]")], pre_tokenizer=metaspace,
                                 post_processor=template("<s>"), decoder=sequence("decoders", *MARKS, STRIP)),
        "gemma": marked_family([token("<start_of_turn>"), token("<end_of_turn>")] + html,
                               normalizer=replace(" ", "\u2581"), pre_tokenizer=cut,
                               post_processor=template("<s>"), decoder=sequence("decoders", *MARKS)),
    }
    result["qwen2"]["model"]["merges"] = old_lines  # as older files write them
    result.update(others())
    return result


def others():
    """No family's, for what the families leave out."""
    many = [token("<one>", False, single_word=True), token("<left>", False, lstrip=True), token("Word", False,
            single_word=True), token("<both>", True, lstrip=True, rstrip=True), token("мир!", False, normalized=True),
            token("世界", False, normalized=True, rstrip=True)]
    result = {
        "lower": byte_family(many, sequence("pretokenizers", split(r"\p{L}+|\d", "Contiguous"), byte_level()),
                             normalizer=sequence("normalizers", {"type": "NFKC"}, {"type": "Lowercase"},
                                                 {"type": "Strip", "strip_left": True, "strip_right": False})),
        "decomposed": byte_family(many, byte_level(True, True), normalizer=sequence(
            "normalizers", {"type": "NFD"}, {"type": "Replace", "pattern": {"Regex": r"\p{Mn}+"}, "content": ""})),
        "metaspace": marked_family(
            [token("<b>", False)], {"byte_fallback": False}, pre_tokenizer={
                "type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
            post_processor=template("<s>", "</s>"), decoder={
                "type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}),
    }
    for behavior in ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]:
        for invert in [False, True]:
            result[f"split-{behavior}-{invert}".lower()] = byte_family(
                many, sequence("pretokenizers", split(r"[\s\p{P}]", behavior, invert),
                               {"type": "Digits", "individual_digits": invert}, byte_level()))
    return result
