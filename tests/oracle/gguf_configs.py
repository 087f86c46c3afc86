# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""The small models that gguf_families.py writes, and their keys and tensors of
ropes as llama.cpp's converter writes them.
"""

import dataclasses
import math

import gguf
import numpy as np

VOCAB, CONTEXT = 512, 1024


@dataclasses.dataclass
class Case:
    architecture: str
    config: dict
    seed: int = 1
    quantised: bool = False
    peer: bool = True  # llama.cpp computes the same
    name: str = ""


BASE = {
    "hidden_act": "silu",
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": VOCAB,
    "rms_norm_eps": 1e-5,
    "max_position_embeddings": CONTEXT,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
}
LLAMA = BASE | {"model_type": "llama", "attention_bias": False, "mlp_bias": False}
LLAMA3_ROPE = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 64}
PHI3 = BASE | {
    "model_type": "phi3", "partial_rotary_factor": 0.75, "original_max_position_embeddings": 64,
    "rope_scaling": {"type": "longrope", "short_factor": [1.0] * 6, "long_factor": [1.0, 1.1, 1.6, 2.6, 5.0, 11.0]},
}
GEMMA2 = BASE | {
    "model_type": "gemma2", "head_dim": 32, "hidden_activation": "gelu_pytorch_tanh", "query_pre_attn_scalar": 32,
    "attn_logit_softcapping": 5.0, "final_logit_softcapping": 8.0, "tie_word_embeddings": True, "sliding_window": 24,
    "num_hidden_layers": 4,
}
GEMMA3 = BASE | {
    "model_type": "gemma3_text", "head_dim": 64, "num_hidden_layers": 7, "query_pre_attn_scalar": 64,
    "rope_theta": 1e6, "rope_local_base_freq": 1e4, "sliding_window": 16, "sliding_window_pattern": 6,
}
QWEN2 = BASE | {"model_type": "qwen2", "tie_word_embeddings": True, "use_sliding_window": False, "rope_theta": 1e6}
QWEN3 = BASE | {"model_type": "qwen3", "head_dim": 32, "tie_word_embeddings": True, "rope_theta": 1e6}
QWEN3_MOE = BASE | {
    "model_type": "qwen3_moe", "head_dim": 32, "num_experts": 6, "num_experts_per_tok": 2, "decoder_sparse_step": 1,
    "mlp_only_layers": [], "moe_intermediate_size": 32, "norm_topk_prob": True, "rope_theta": 1e6,
}
GPT_OSS = BASE | {
    "model_type": "gpt_oss", "head_dim": 32, "num_hidden_layers": 2, "num_local_experts": 4, "num_experts_per_tok": 2,
    "intermediate_size": 32, "sliding_window": 24, "layer_types": ["sliding_attention", "full_attention"],
    "rope_scaling": {"rope_type": "yarn", "factor": 8.0, "beta_fast": 32.0, "beta_slow": 1.0,
                     "original_max_position_embeddings": 64},
}

CASES = {
    "llama": Case("llama", LLAMA),
    "llama-codes": Case("llama", LLAMA | {"tie_word_embeddings": True}, quantised=True, peer=False),
    "llama-linear": Case("llama", LLAMA | {"rope_scaling": {"type": "linear", "factor": 4.0}}),
    "llama-yarn": Case("llama", LLAMA | {
        "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}}),
    "llama3": Case("llama", LLAMA | {
        "rope_scaling": LLAMA3_ROPE, "rope_theta": 5e5, "tie_word_embeddings": True}),
    "mistral": Case("llama", LLAMA | {"model_type": "mistral", "head_dim": 32, "rope_theta": 1e6}),
    "phi3": Case("phi3", PHI3),
    "phi3-window": Case("phi3", PHI3 | {"sliding_window": 24, "rope_scaling": None}, peer=False),
    "gemma2": Case("gemma2", GEMMA2),
    "gemma3": Case("gemma3", GEMMA3),
    "qwen2": Case("qwen2", QWEN2),
    "qwen3": Case("qwen3", QWEN3),
    "qwen3moe": Case("qwen3moe", QWEN3_MOE),
    "gpt-oss": Case("gpt-oss", GPT_OSS),
}
for key, case in CASES.items():
    case.name = key


def head_dim(config):
    return config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]


def rope_dims(config):
    return int(config.get("partial_rotary_factor", 1.0) * head_dim(config))


def write_sizes(writer, config):
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    if "head_dim" in config:
        writer.add_key_length(config["head_dim"])
        writer.add_value_length(config["head_dim"])


def write_scaling(writer, scaling):
    kind = scaling.get("rope_type", scaling.get("type"))
    if kind == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(scaling["factor"])
    elif kind == "yarn":
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(scaling["factor"])
        writer.add_rope_scaling_orig_ctx_len(scaling["original_max_position_embeddings"])


def write_phi3(writer, config):
    writer.add_rope_dimension_count(rope_dims(config))
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_sliding_window(config.get("sliding_window") or 0)
    writer.add_rope_scaling_orig_ctx_len(config["original_max_position_embeddings"])
    if config["rope_scaling"]:
        context = config["original_max_position_embeddings"]
        grown = config["max_position_embeddings"] / context
        writer.add_rope_scaling_attn_factors(math.sqrt(1 + math.log(grown) / math.log(context)))


def write_keys(writer, case):
    config, architecture = case.config, case.architecture
    write_sizes(writer, config)
    if architecture == "phi3":
        write_phi3(writer, config)
        return
    if architecture == "gemma2":  # which says no base
        writer.add_attn_logit_softcapping(config["attn_logit_softcapping"])
        writer.add_final_logit_softcapping(config["final_logit_softcapping"])
        writer.add_sliding_window(config["sliding_window"])
        return
    writer.add_rope_freq_base(config["rope_theta"])
    write_scaling(writer, config.get("rope_scaling") or {})
    if architecture == "llama":
        writer.add_vocab_size(config["vocab_size"])
        writer.add_rope_dimension_count(head_dim(config))
    if "num_experts_per_tok" in config:
        writer.add_expert_count(config.get("num_experts") or config["num_local_experts"])
        writer.add_expert_used_count(config["num_experts_per_tok"])
        writer.add_expert_feed_forward_length(config.get("moe_intermediate_size") or config["intermediate_size"])
    if architecture in ("gemma3", "gpt-oss"):
        writer.add_sliding_window(config["sliding_window"])


def llama3_factors(config):
    scaling, base, dims = config["rope_scaling"], config["rope_theta"], head_dim(config)
    low, high, context = scaling["low_freq_factor"], scaling["high_freq_factor"], scaling[
        "original_max_position_embeddings"]
    for i in range(0, dims, 2):
        length = 2 * math.pi * base ** (i / dims)
        smooth = min(max((context / length - low) / (high - low), 0.0), 1.0)
        yield 1 / ((1 - smooth) / scaling["factor"] + smooth)


def rope_tensors(case):
    scaling = case.config.get("rope_scaling") or {}
    if scaling.get("rope_type") == "llama3":
        yield "rope_freqs.weight", np.array(list(llama3_factors(case.config)), np.float32)
    if case.architecture == "phi3" and scaling:
        for kind in ("long", "short"):
            yield f"rope_factors_{kind}.weight", np.array(scaling[f"{kind}_factor"], np.float32)
