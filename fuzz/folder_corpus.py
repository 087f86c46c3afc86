# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Seeds of what model folders hold: safetensors, their index, config.json; an
adapter's settings; a template's texts. Called by make_corpus.py.
"""

import json

# Texts that are filled in: format() and its refusals, the operator, the filter.
TEMPLATE_FORMAT = """{{ '{}-{}'.format(d.a, messages[1].content) }}
{{ '{1}{0}{name}'.format(1, 2.5, name=d) }}{{ '{{}}{{{0}}}'.format(none) }}
{%- for m in messages %}{{ '<{role}>{content}'.format(**m) }}{% endfor %}
{{ '%s|%5.2f|%d|%%' % ('a', 2.5, 7) }}{{ '%s and %s' | format(bos_token, d.b) }}
{{ '{0.a}{d[a]}{!r}{:>8}'.format(d) }}
"""


def write_folders(here, safetensors):
    """safetensors(tensors, metadata): the bytes of a file."""
    scale = ("BF16", [2, 2], bytes(8))
    codes = {"m.weight": ("U32", [2, 8], bytes(64)), "m.scales": scale, "m.biases": scale}
    index = {"metadata": {"total_size": 80}, "weight_map": {name: "a" for name in codes}}
    config = {
        "model_type": "x", "hidden_size": 8, "num_hidden_layers": 1,
        "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 4,
        "rms_norm_eps": 1e-6, "rope_scaling": {"factor": 8.0, "type": "linear"},
        "eos_token_id": [1, 2], "layer_types": ["full", "sliding"], "head_dim": None,
        "quantization": {"group_size": 64, "bits": 4, "mode": "affine", "lm_head": False,
                         "model.layers.0.mlp.up_proj": {"group_size": 32, "bits": 8}},
    }
    part = config | {"quantization_config": {"quant_method": "gptq"}, "quantization": None}
    parts = {"rank": 8, "scale": 20.0, "dropout": 0.0, "keys": ["self_attn.q_proj", "lm_head"]}
    peft = {"peft_type": "LORA", "r": 8, "lora_alpha": 16, "rank_pattern": {"q_proj": 4}}
    whole = peft | {
        "alpha_pattern": {"layers.0.self_attn.q_proj": 32}, "use_rslora": True, "bias": "none",
        "init_lora_weights": "gaussian", "target_modules": ["q_proj", "lm_head"], "use_dora": False,
        "modules_to_save": None, "layers_to_transform": [0], "task_type": "CAUSAL_LM"}
    gemma3 = {"model_type": "gemma3", "text_config": {
        "model_type": "gemma3_text", "hidden_size": 64, "num_hidden_layers": 6,
        "sliding_window": 1024, "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
        "rope_parameters": {"full_attention": {"rope_theta": 1e6}, "sliding_attention": {}}}}
    published = config | {"quantization": None, "quantization_config": {
        "quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.mlp.router"]}}
    seeds = {
        "safetensors/seed_quantized": safetensors(codes, {"format": "mlx"}),
        "safetensors/seed_index": json.dumps(index).encode(),
        "config/seed_quantized": json.dumps(config).encode(),
        "config/seed_part": json.dumps({"model_type": "y", "text_config": part}).encode(),
        "config/seed_peft": json.dumps(peft).encode(),
        "config/seed_peft_whole": json.dumps(whole).encode(),
        "config/seed_gemma3": json.dumps(gemma3).encode(),
        "config/seed_published": json.dumps(published).encode(),
        "config/seed_mlx": json.dumps({"num_layers": 1, "lora_parameters": parts}).encode(),
        "config/seed_mlx_whole": json.dumps({
            "fine_tune_type": "lora", "num_layers": -1, "lora_parameters": parts,
            "lr_schedule": {"arguments": [1e-5, [1, 2]]}}).encode(),
        "template/seed_format": TEMPLATE_FORMAT.encode(),
    }
    for name, data in seeds.items():
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_bytes(data)
