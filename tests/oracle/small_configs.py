# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""The configurations of the small models that small_models.py makes, as their
families publish them: small enough to be kept, heads of 32 for every codec.
"""

QWEN35 = {
    "model_type": "qwen3_5",
    "tie_word_embeddings": False,
    "text_config": {
        "model_type": "qwen3_5_text",
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 4,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 32,
        "rms_norm_eps": 1e-6,
        "vocab_size": 64,
        "max_position_embeddings": 4096,
        "linear_num_value_heads": 4,
        "linear_num_key_heads": 2,
        "linear_key_head_dim": 16,
        "linear_value_head_dim": 16,
        "linear_conv_kernel_dim": 4,
        "tie_word_embeddings": False,
        "attention_bias": False,
        "full_attention_interval": 4,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10000.0,
            "partial_rotary_factor": 0.25,
        },
    },
}

GEMMA4 = {
    "model_type": "gemma4_text",
    "hidden_size": 32,
    "intermediate_size": 40,
    "num_hidden_layers": 7,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "global_head_dim": 32,
    "rms_norm_eps": 1e-6,
    "vocab_size": 64,
    "vocab_size_per_layer_input": 64,
    "max_position_embeddings": 4096,
    "num_kv_shared_layers": 3,
    "hidden_size_per_layer_input": 16,
    "sliding_window": 24,
    "attention_k_eq_v": False,
    "final_logit_softcapping": 30.0,
    "use_double_wide_mlp": True,
    "tie_word_embeddings": True,
    "layer_types": [
        "sliding_attention", "sliding_attention", "full_attention", "sliding_attention",
        "sliding_attention", "full_attention", "sliding_attention",
    ],
    "rope_parameters": {
        "full_attention": {
            "rope_type": "proportional", "rope_theta": 1000000.0,
            "partial_rotary_factor": 0.25,
        },
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
    },
}

# The larger models: no shared layers, values of full layers are their keys.
GEMMA4_WIDE = GEMMA4 | {
    "num_hidden_layers": 3,
    "num_kv_shared_layers": 0,
    "hidden_size_per_layer_input": 0,
    "attention_k_eq_v": True,
    "num_global_key_value_heads": 1,
    "layer_types": ["sliding_attention", "full_attention", "full_attention"],
}

# Attention over latents; mlx-lm expands them, holdfast does not.
LATENT = {
    "model_type": "deepseek_v2",
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "num_key_value_heads": 3,
    "vocab_size": 64,
    "kv_lora_rank": 32,
    "q_lora_rank": 24,
    "qk_rope_head_dim": 16,
    "qk_nope_head_dim": 20,
    "v_head_dim": 24,
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 4096,
    "rope_theta": 10000.0,
    "rope_scaling": {"type": "yarn", "factor": 1.0},
    "attention_bias": False,
    "n_routed_experts": None,
}

# llama 3: grouped heads, tied.
LLAMA = {
    "model_type": "llama",
    "hidden_act": "silu",
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "vocab_size": 64,
    "rms_norm_eps": 1e-5,
    "max_position_embeddings": 4096,
    "rope_theta": 500000.0,
    "rope_scaling": {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 64,
    },
    "attention_bias": False,
    "mlp_bias": False,
    "tie_word_embeddings": True,
}

# Plain heads, wider than hidden / heads; biases everywhere; some layers slide.
LLAMA_BIASED = LLAMA | {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 3,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "rope_theta": 10000.0,
    "rope_scaling": {"type": "linear", "factor": 4.0},
    "attention_bias": True,
    "mlp_bias": True,
    "tie_word_embeddings": False,
    "sliding_window": 24,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
}

SHAPED = {key: LLAMA_BIASED[key] for key in LLAMA_BIASED if key not in (
    "attention_bias", "mlp_bias", "layer_types", "rope_scaling")}

MISTRAL = SHAPED | {"model_type": "mistral", "num_key_value_heads": 1}

QWEN2 = SHAPED | {
    "model_type": "qwen2",
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_key_value_heads": 1,
    "rope_scaling": {"type": "yarn", "factor": 4.0,
                     "original_max_position_embeddings": 40},
    "use_sliding_window": True,
    "max_window_layers": 1,
}

QWEN3 = SHAPED | {
    "model_type": "qwen3",
    "num_key_value_heads": 1,
    "use_sliding_window": False,
    "tie_word_embeddings": True,
}

PHI3 = SHAPED | {
    "model_type": "phi3",
    "hidden_size": 64,
    "num_key_value_heads": 1,
    "partial_rotary_factor": 0.75,
    "original_max_position_embeddings": 1024,
    "rope_scaling": {
        "type": "longrope",
        "short_factor": [1.0] * 12,
        "long_factor": [1.0, 1.0, 1.1, 1.3, 1.6, 2.0, 2.6, 3.5, 5.0, 7.5, 11.0, 16.0],
    },
}
del PHI3["head_dim"]

GEMMA2 = SHAPED | {
    "model_type": "gemma2",
    "hidden_activation": "gelu_pytorch_tanh",
    "query_pre_attn_scalar": 48,
    "attn_logit_softcapping": 5.0,
    "final_logit_softcapping": 8.0,
    "tie_word_embeddings": True,
}
del GEMMA2["hidden_act"]

# Every third layer is full; its rope is scaled, that of the others is not.
GEMMA3_TEXT = SHAPED | {
    "model_type": "gemma3_text",
    "hidden_activation": "gelu_pytorch_tanh",
    "num_key_value_heads": 1,
    "query_pre_attn_scalar": 48,
    "sliding_window_pattern": 3,
    "rope_theta": 1000000.0,
    "rope_local_base_freq": 10000.0,
    "rope_scaling": {"rope_type": "linear", "factor": 8.0},
}
for absent in ("hidden_act", "tie_word_embeddings"):
    del GEMMA3_TEXT[absent]

# Experts in the first and the last layer.
QWEN3_MOE = SHAPED | {
    "model_type": "qwen3_moe",
    "num_key_value_heads": 1,
    "num_experts": 6,
    "num_experts_per_tok": 2,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [1],
    "moe_intermediate_size": 32,
    "norm_topk_prob": True,
}

GPT_OSS = SHAPED | {
    "model_type": "gpt_oss",
    "num_key_value_heads": 1,
    "num_hidden_layers": 2,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "intermediate_size": 32,
    "layer_types": ["sliding_attention", "full_attention"],
    "rope_scaling": {"rope_type": "yarn", "factor": 8.0, "beta_fast": 32.0,
                     "beta_slow": 1.0, "original_max_position_embeddings": 64},
}

CONFIGS = {"qwen35": QWEN35, "gemma4": GEMMA4, "gemma4_wide": GEMMA4_WIDE,
           "latent": LATENT, "llama": LLAMA, "llama_biased": LLAMA_BIASED,
           "mistral": MISTRAL, "qwen2": QWEN2, "qwen3": QWEN3,
           "phi3": PHI3, "gemma2": GEMMA2, "gemma3_text": GEMMA3_TEXT,
           "qwen3_moe": QWEN3_MOE, "gpt_oss": GPT_OSS}
