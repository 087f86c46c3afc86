#!/usr/bin/env python3
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Small random models of the families as GGUF files, against mlx-lm and llama.cpp.

    gguf_families.py --binary HOLDFAST [--llama FOLDER] [NAMES...]

Each is made by mlx-lm's own class and written with the tensors and keys that
llama.cpp's converter writes (float32, or Q8_0 codes that both read). Every
log-probability that holdfast gives after a prompt of some 180 tokens lies
within 1e-4 of the largest logit of the class's (2e-2 for codes, whose products
round what they multiply), prompt whole or in chunks, the file whole or in parts. With --llama, where its llama-server is, the same of its
greedy continuation. With --write FOLDER only the files.
"""

import argparse
import pathlib
import sys
import tempfile

import gguf
import mlx.core as mx
import mlx.utils
import numpy as np

import gguf_configs
import holdfast_cli
import llama_server
from gemma3_mlx import log_softmax
from small_models import build
from tiny_gemma3 import text, vocabulary

BOUND, BOUND_OF_CODES, STEPS, CHUNKS = 1e-4, 2e-2, 40, (512, 7)

# Names in the class -> names in the file.
NAMES = (
    ("model.layers.", "blk."), ("model.embed_tokens", "token_embd"), ("model.norm", "output_norm"),
    ("lm_head", "output"), ("self_attn.qkv_proj", "attn_qkv"), ("self_attn.q_proj", "attn_q"),
    ("self_attn.k_proj", "attn_k"), ("self_attn.v_proj", "attn_v"), ("self_attn.o_proj", "attn_output"),
    ("self_attn.q_norm", "attn_q_norm"), ("self_attn.k_norm", "attn_k_norm"),
    ("mlp.switch_mlp.gate_proj", "ffn_gate_exps"), ("mlp.switch_mlp.up_proj", "ffn_up_exps"),
    ("mlp.switch_mlp.down_proj", "ffn_down_exps"), ("mlp.gate_up_proj", "ffn_up"),
    ("mlp.experts.gate_proj", "ffn_gate_exps"), ("mlp.experts.up_proj", "ffn_up_exps"),
    ("mlp.experts.down_proj", "ffn_down_exps"), ("mlp.router", "ffn_gate_inp"),
    ("self_attn.sinks", "attn_sinks.weight"), ("mlp.gate_proj", "ffn_gate"), ("mlp.up_proj", "ffn_up"), ("mlp.down_proj", "ffn_down"),
    ("mlp.gate.", "ffn_gate_inp."), ("input_layernorm", "attn_norm"),
    ("pre_feedforward_layernorm", "ffn_norm"), ("post_feedforward_layernorm", "post_ffw_norm"))


def file_name(name, architecture):
    own = architecture.startswith("gemma") or architecture == "gpt-oss"
    behind = "post_attention_norm" if own else "ffn_norm"
    for ours, theirs in NAMES + (("post_attention_layernorm", behind),):
        name = name.replace(ours, theirs)
    return name


def in_pairs(rows, heads):
    """Rows [heads][2][half] -> [heads][half][2], as llama's turn together there."""
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(rows.shape)


def stored(name, value, case):
    """The weight as the file has it."""
    config = case.config
    if case.architecture.startswith("gemma") and "norm" in name:
        return value + 1
    if case.architecture == "llama" and ".q_proj." in name:
        return in_pairs(value, config["num_attention_heads"])
    if case.architecture == "llama" and ".k_proj." in name:
        return in_pairs(value, config["num_key_value_heads"])
    return value


def write_vocabulary(writer):
    pieces, scores, kinds = vocabulary()
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(list(pieces))
    writer.add_token_scores(list(scores))
    writer.add_token_types(list(kinds))
    writer.add_eos_token_id(1)
    writer.add_bos_token_id(2)
    writer.add_unk_token_id(3)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(False)


def is_coded(case, name, value):
    return case.quantised and value.ndim > 1 and "norm" not in name and "ffn_gate_inp" not in name


def write(path, case, weights, parts):
    """parts: as many tensors go into a file; 0: all into one."""
    writer = gguf.GGUFWriter(path, case.architecture, split_max_tensors=parts)
    writer.add_name("small random model")  # by some names llama.cpp expects pieces
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    gguf_configs.write_keys(writer, case)
    write_vocabulary(writer)
    for name, value in gguf_configs.rope_tensors(case):
        writer.add_tensor(name, value)
    for name, value in weights.items():
        value = np.ascontiguousarray(stored(name, np.array(value), case))
        name = file_name(name, case.architecture)
        if is_coded(case, name, value):
            codes = gguf.quants.quantize(value, gguf.GGMLQuantizationType.Q8_0)
            writer.add_tensor(name, codes, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
        else:
            writer.add_tensor(name, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def make(case):
    """The class's model, with the values that the file holds, and its weights."""
    mx.random.seed(case.seed)
    model = build(case.config)
    weights = dict(mlx.utils.tree_flatten(model.parameters()))
    if not case.quantised:
        return model, weights
    for name, value in weights.items():
        values = np.array(value)
        if is_coded(case, file_name(name, case.architecture), values):
            codes = gguf.quants.quantize(values, gguf.GGMLQuantizationType.Q8_0)
            weights[name] = mx.array(gguf.quants.dequantize(codes, gguf.GGMLQuantizationType.Q8_0))
    return build(case.config, list(weights.items())), weights


def answer_of(path, binary, chunk):
    (answer,) = holdfast_cli.run(
        binary, "generate", "--state", "none", "-m", path, "--temp", 0, "-n", STEPS, "--ignore-eos", "--kv", "f32",
        "--chunk", chunk, "--logprobs", gguf_configs.VOCAB, "-p", text(1))
    assert len(answer["prompt_ids"]) >= 150, answer["prompt_ids"]
    return answer


def worst_error(answer, model):
    """Of all log-probabilities, as a part of the largest logit; the choice is the class's."""
    ids = answer["prompt_ids"] + answer["ids"][:-1]
    logits = np.array(model(mx.array([ids]))[0, len(answer["prompt_ids"]) - 1 :])
    expected, worst = log_softmax(logits), 0.0
    for step, row in zip(answer["logprobs"], expected, strict=True):
        assert len(step["top"]) == gguf_configs.VOCAB
        worst = max(worst, max(abs(top["logprob"] - row[top["id"]]) for top in step["top"]))
    return worst / np.abs(logits).max()


def check(case, folder, binary):
    model, weights = make(case)
    whole = folder / f"{case.name}.gguf"
    write(whole, case, weights, 0)
    write(folder / f"{case.name}-parts.gguf", case, weights, 7)
    (first,) = folder.glob(f"{case.name}-parts-00001-of-*.gguf")
    answers = [answer_of(whole, binary, chunk) for chunk in CHUNKS] + [answer_of(first, binary, CHUNKS[0])]
    errors = [worst_error(answer, model) for answer in answers]
    same = all(answer["ids"] == answers[0]["ids"] and answer["logprobs"] == answers[0]["logprobs"] for answer in answers)
    bound = BOUND_OF_CODES if case.quantised else BOUND
    print(f"{case.name}: largest error {max(errors):.1e} of the largest logit (at most {bound:.0e}), "
          f"{'same bits in chunks and parts' if same else 'OTHER BITS in chunks or parts'}", flush=True)
    return answers[0], max(errors) <= bound and same


def check_llama(case, path, answer, program):
    assert 1 not in answer["ids"], f"{case.name}: the end of a text is chosen: take another seed"
    theirs = llama_server.greedy(program, path, answer["prompt_ids"], STEPS, gguf_configs.CONTEXT)
    good = theirs == answer["ids"]
    said = "goes on alike" if good else f"goes on otherwise: {theirs} for {answer['ids']}"
    print(f"{case.name}: llama.cpp {said}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=sorted(gguf_configs.CASES))
    parser.add_argument("--binary", help="the holdfast program")
    parser.add_argument("--llama", type=pathlib.Path, help="where llama-server is")
    parser.add_argument("--write", type=pathlib.Path, help="write the files here and stop")
    options = parser.parse_args()
    mx.set_default_device(mx.cpu)
    good = True
    with tempfile.TemporaryDirectory() as temporary:
        for name in options.names:
            case = gguf_configs.CASES[name]
            if options.write:
                options.write.mkdir(parents=True, exist_ok=True)
                write(options.write / f"{name}.gguf", case, make(case)[1], 0)
                continue
            folder = pathlib.Path(temporary)
            answer, equal = check(case, folder, options.binary)
            good = equal and good
            if options.llama and case.peer:
                good = check_llama(case, folder / f"{name}.gguf", answer, options.llama / "llama-server") and good
    sys.exit(not good)


if __name__ == "__main__":
    main()
