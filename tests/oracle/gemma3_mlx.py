# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""mlx-lm's gemma3_text in float32 over a GGUF file's weights.

What it computes is the reference: the weights are expanded from their codes to
float32 by the gguf package, and mlx-lm's own class does the rest.
"""

import importlib.util
import re
import sys
import types

import gguf
import mlx.core as mx
import numpy as np

# The class alone is wanted; the package's front pulls in what it does not need.
spec = importlib.util.find_spec("mlx_lm")
front = types.ModuleType("mlx_lm")
front.__path__ = list(spec.submodule_search_locations)
sys.modules["mlx_lm"] = front

from mlx_lm.models import gemma3_text  # noqa: E402

WINDOW_PATTERN = 6
LOCAL_ROPE_BASE = 1e4

# Names in the file -> names in the class; norms are stored as 1 + weight.
NAMES = {
    "token_embd": "model.embed_tokens",
    "output": "lm_head",
    "output_norm": "model.norm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "attn_norm": "input_layernorm",
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def class_name(name):
    """blk.3.attn_q.weight -> model.layers.3.self_attn.q_proj.weight"""
    layer = re.fullmatch(r"blk\.(\d+)\.(\w+)\.weight", name)
    if layer:
        return f"model.layers.{layer[1]}.{NAMES[layer[2]]}.weight"
    return f"{NAMES[name.removesuffix('.weight')]}.weight"


def file_name(name):
    """The inverse of class_name."""
    layer = re.fullmatch(r"model\.layers\.(\d+)\.(.+)\.weight", name)
    names = {theirs: ours for ours, theirs in NAMES.items()}
    if layer:
        return f"blk.{layer[1]}.{names[layer[2]]}.weight"
    return f"{names[name.removesuffix('.weight')]}.weight"


def is_norm(name):
    return "norm" in name


def build(args, weights):
    """The class with float32 weights {class name: array [out, in]}."""
    model = gemma3_text.Model(args)
    model.load_weights(list(model.sanitize(weights).items()), strict=True)
    mx.eval(model.parameters())
    return model


class Gemma3:
    """The model of a file; rows(ids, first) are its float32 log-probabilities."""

    def __init__(self, path):
        reader = gguf.GGUFReader(path)

        def field(name):
            return reader.fields[f"gemma3.{name}"].contents()

        tensors = {
            tensor.name: gguf.quants.dequantize(tensor.data, tensor.tensor_type)
            for tensor in reader.tensors
        }
        embedding = tensors["token_embd.weight"]
        args = gemma3_text.ModelArgs(
            model_type="gemma3_text",
            hidden_size=field("embedding_length"),
            num_hidden_layers=field("block_count"),
            intermediate_size=field("feed_forward_length"),
            num_attention_heads=field("attention.head_count"),
            num_key_value_heads=field("attention.head_count_kv"),
            head_dim=field("attention.key_length"),
            rms_norm_eps=field("attention.layer_norm_rms_epsilon"),
            vocab_size=embedding.shape[0],
            rope_theta=field("rope.freq_base"),
            rope_local_base_freq=LOCAL_ROPE_BASE,
            query_pre_attn_scalar=field("attention.key_length"),
            sliding_window=field("attention.sliding_window"),
            sliding_window_pattern=WINDOW_PATTERN,
            max_position_embeddings=field("context_length"),
        )
        # The output layer is the embedding; numpy does that one product, for the
        # rows that are asked for (MLX on a CPU would take minutes).
        self.output = tensors.pop("output.weight", embedding).astype(np.float32)
        weights = {}
        for name, value in tensors.items():
            value = value.astype(np.float32)
            weights[class_name(name)] = mx.array(value - 1 if is_norm(name) else value)
        self.model = build(args, weights)

    def rows(self, ids, first):
        """log p(next | ids[: i + 1]) for i >= first: [len(ids) - first, vocab]."""
        hidden = self.model.model(mx.array([ids]))[0, first:]
        mx.eval(hidden)
        logits = np.array(hidden, dtype=np.float32) @ self.output.T
        return log_softmax(logits)


def log_softmax(logits):
    logits = logits.astype(np.float64)
    logits -= logits.max(axis=-1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
