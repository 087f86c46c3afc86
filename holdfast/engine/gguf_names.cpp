// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/gguf_names.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace holdfast {

namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr Pair kFamilies[] = {
    {"llama", "llama"},
    {"qwen2", "qwen2"},
    {"qwen3", "qwen3"},
    {"phi3", "phi3"},
    {"gemma2", "gemma2"},
    {"qwen3moe", "qwen3_moe"},
    {"gpt-oss", "gpt_oss"},
};

constexpr Pair kWhole[] = {
    {"embed_tokens.weight", "token_embd.weight"},
    {"norm.weight", "output_norm.weight"},
    {"lm_head.weight", "output.weight"},
};

// Of a layer, without ".weight" and ".bias".
constexpr Pair kOfLayer[] = {
    {"self_attn.q_proj", "attn_q"},
    {"self_attn.k_proj", "attn_k"},
    {"self_attn.v_proj", "attn_v"},
    {"self_attn.o_proj", "attn_output"},
    {"self_attn.qkv_proj", "attn_qkv"},
    {"self_attn.q_norm", "attn_q_norm"},
    {"self_attn.k_norm", "attn_k_norm"},
    {"mlp.gate_proj", "ffn_gate"},
    {"mlp.up_proj", "ffn_up"},
    {"mlp.gate_up_proj", "ffn_up"},
    {"mlp.down_proj", "ffn_down"},
    {"mlp.gate", "ffn_gate_inp"},
    {"mlp.router", "ffn_gate_inp"},
    {"mlp.switch_mlp.gate_proj", "ffn_gate_exps"},
    {"mlp.switch_mlp.up_proj", "ffn_up_exps"},
    {"mlp.switch_mlp.down_proj", "ffn_down_exps"},
    {"mlp.experts.gate_proj", "ffn_gate_exps"},
    {"mlp.experts.up_proj", "ffn_up_exps"},
    {"mlp.experts.down_proj", "ffn_down_exps"},
    {"input_layernorm", "attn_norm"},
    {"post_attention_layernorm", "ffn_norm"},
    {"pre_feedforward_layernorm", "ffn_norm"},
    {"post_feedforward_layernorm", "post_ffw_norm"},
};

// Of families whose "post_attention_layernorm" has its own name.
constexpr std::string_view kPostNormFamilies[] = {"gemma2", "gpt_oss"};
constexpr std::string_view kSinks = ".self_attn.sinks"; // has no ".weight"

template <size_t N>
std::string_view find(const Pair (&pairs)[N], std::string_view name) {
  for (const auto& [from, to] : pairs) {
    if (from == name) {
      return to;
    }
  }
  return {};
}

/// The first that has this name.
template <size_t N>
std::string_view find_reverse(const Pair (&pairs)[N], std::string_view name) {
  for (const auto& [from, to] : pairs) {
    if (to == name) {
      return from;
    }
  }
  return {};
}

} // namespace

std::string_view gguf_family(std::string_view architecture) {
  return find(kFamilies, architecture);
}

std::string
gguf_tensor_name(std::string_view family, std::string_view published) {
  constexpr std::string_view kLayers = "layers.";
  const std::string_view whole = find(kWhole, published);
  if (family.empty() || !whole.empty()) {
    return std::string(whole.empty() ? published : whole);
  }
  const size_t number = kLayers.size();
  const size_t part = published.find('.', number);
  const size_t kind = published.rfind('.');
  if (!published.starts_with(kLayers) || part == std::string_view::npos ||
      kind <= part) {
    return std::string(published);
  }
  if (published.ends_with(kSinks)) {
    return "blk." + std::string(published.substr(number, part - number)) +
        ".attn_sinks.weight";
  }
  const std::string_view of_layer = published.substr(part + 1, kind - part - 1);
  std::string_view name = find(kOfLayer, of_layer);
  if (of_layer == "post_attention_layernorm" &&
      std::ranges::find(kPostNormFamilies, family) !=
          std::end(kPostNormFamilies)) {
    name = "post_attention_norm";
  }
  if (name.empty()) {
    return std::string(published);
  }
  return "blk." + std::string(published.substr(number, part - number)) + "." +
      std::string(name) + std::string(published.substr(kind));
}

std::string published_tensor_name(std::string_view gguf) {
  constexpr std::string_view kBlocks = "blk.";
  if (const std::string_view whole = find_reverse(kWhole, gguf);
      !whole.empty()) {
    return std::string(whole);
  }
  const size_t number = kBlocks.size();
  const size_t part = gguf.find('.', number);
  const size_t kind = gguf.rfind('.');
  if (!gguf.starts_with(kBlocks) || part == gguf.npos || kind <= part) {
    return std::string(gguf);
  }
  const std::string_view of_layer =
      find_reverse(kOfLayer, gguf.substr(part + 1, kind - part - 1));
  if (of_layer.empty()) {
    return std::string(gguf);
  }
  std::string name = "layers.";
  name.append(gguf.substr(number, part - number)).append(".");
  return name.append(of_layer).append(gguf.substr(kind));
}

} // namespace holdfast
