// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A model of tests/data/models as a GGUF file's bytes, written as the format's
// own converters write it: other names, a llama's rows of queries and keys in
// pairs, frequencies of llama 3 and of phi 3 as tensors. One thread.

#pragma once

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "mlx/mlx.h"

#include "tests/formats/gguf_writer.h"
#include "tests/models/folder_rig.h"

namespace holdfast::test {

class GgufFolder {
 public:
  GgufFolder(const std::string& folder, std::string architecture)
      : architecture_(std::move(architecture)),
        tensors_(
            mx::load_safetensors(model_folder(folder) + "/model.safetensors")
                .first),
        settings_(
            FolderWeights(model_folder(folder), std::make_shared<Executor>(1))
                .settings()) {
    add_config();
    for (const auto& [name, array] : tensors_) {
      add_tensor(name, array);
    }
    add_rope();
  }

  std::string bytes() const {
    std::string out = image_.header();
    out.resize(image_.aligned(out.size()));
    return out + data_;
  }

 private:
  int64_t size(const char* name) const {
    return settings_.size(name);
  }
  int64_t head_dim() const {
    return settings_.size(
        "head_dim", size("hidden_size") / size("num_attention_heads"));
  }

  int64_t rope_dims() const {
    return static_cast<int64_t>(
        static_cast<double>(head_dim()) *
        settings_.number("partial_rotary_factor", 1.0));
  }

  void add_config() {
    image_.add_text("general.architecture", architecture_);
    number("block_count", size("num_hidden_layers"));
    number("embedding_length", size("hidden_size"));
    number("feed_forward_length", size("intermediate_size"));
    number("attention.head_count", size("num_attention_heads"));
    number("attention.head_count_kv", size("num_key_value_heads"));
    number("attention.key_length", head_dim());
    number("attention.value_length", head_dim());
    number("rope.dimension_count", rope_dims());
    number("context_length", size("max_position_embeddings"));
    real("attention.layer_norm_rms_epsilon", settings_.number("rms_norm_eps"));
    real("rope.freq_base", settings_.number("rope_theta"));
    if (architecture_ == "gpt-oss" || architecture_ == "qwen3moe") {
      const bool oss = architecture_ == "gpt-oss";
      number("expert_count", size(oss ? "num_local_experts" : "num_experts"));
      number("expert_used_count", size("num_experts_per_tok"));
      number(
          "expert_feed_forward_length",
          size(oss ? "intermediate_size" : "moe_intermediate_size"));
    }
    if (architecture_ == "gemma2" || architecture_ == "gpt-oss" ||
        architecture_ == "phi3") {
      number("attention.sliding_window", size("sliding_window"));
    }
    if (architecture_ == "gemma2") {
      real(
          "attn_logit_softcapping", settings_.number("attn_logit_softcapping"));
      real(
          "final_logit_softcapping",
          settings_.number("final_logit_softcapping"));
    }
  }

  /// The converter names no kind of scaling for these: the tensors say it.
  void add_long_rope() {
    const int64_t context = size("original_max_position_embeddings");
    const double grown = static_cast<double>(size("max_position_embeddings")) /
        static_cast<double>(context);
    number("rope.scaling.original_context_length", context);
    real(
        "rope.scaling.attn_factor",
        std::sqrt(
            1.0 + std::log(grown) / std::log(static_cast<double>(context))));
    for (const std::string length : {"long", "short"}) {
      const auto values =
          settings_.numbers("rope_scaling." + length + "_factor");
      add("rope_factors_" + length + ".weight",
          {values.size()},
          {values.begin(), values.end()});
    }
  }

  void add_rope() {
    if (architecture_ == "phi3") {
      add_long_rope();
      return;
    }
    const std::string prefix = "rope_scaling.";
    const std::string type = settings_.text(
        prefix + "rope_type", settings_.text(prefix + "type", "default"));
    if (type == "default" || !settings_.has(prefix + "factor")) {
      return;
    }
    const double factor = settings_.number(prefix + "factor");
    if (type != "llama3") {
      image_.add_text(architecture_ + ".rope.scaling.type", type);
      real("rope.scaling.factor", factor);
      if (type == "yarn") {
        number(
            "rope.scaling.original_context_length",
            size("rope_scaling.original_max_position_embeddings"));
      }
      return;
    }
    const double context =
        settings_.number(prefix + "original_max_position_embeddings");
    const double low = settings_.number(prefix + "low_freq_factor");
    const double high = settings_.number(prefix + "high_freq_factor");
    std::vector<float> factors;
    for (int64_t i = 0; i < head_dim(); i += 2) {
      const double length = 2.0 * std::numbers::pi *
          std::pow(settings_.number("rope_theta"),
                   static_cast<double>(i) / static_cast<double>(head_dim()));
      const double smooth = (context / length - low) / (high - low);
      factors.push_back(static_cast<float>(
          length < context / high ? 1.0
              : length > context / low
              ? factor
              : 1.0 / ((1.0 - smooth) / factor + smooth)));
    }
    add("rope_freqs.weight", {factors.size()}, factors);
  }

  void add_tensor(const std::string& name, mx::array array) {
    array = mx::astype(array, mx::float32);
    mx::eval({array});
    std::vector<float> values(
        array.data<float>(), array.data<float>() + array.size());
    if (architecture_ == "gemma2" &&
        name.find("norm.weight") != std::string::npos) {
      for (float& value : values) {
        value += 1.0f; // published less one
      }
    }
    if (architecture_ == "gemma2" &&
        name.find(".q_proj.") != std::string::npos) {
      // What scores are scaled by is the head size in every file.
      const double scale = std::sqrt(
          static_cast<double>(head_dim()) /
          settings_.number("query_pre_attn_scalar"));
      for (float& value : values) {
        value *= static_cast<float>(scale);
      }
    }
    const auto columns = static_cast<size_t>(
        array.ndim() == 1 ? 1 : array.shape(array.ndim() - 1));
    if (architecture_ == "llama" &&
        (name.find(".q_proj.") != std::string::npos ||
         name.find(".k_proj.") != std::string::npos)) {
      values = in_pairs(values, columns);
    }
    std::vector<uint64_t> ne(array.shape().rbegin(), array.shape().rend());
    add(stored_name(name), std::move(ne), values);
  }

  /// Rows [heads][2][dim / 2] -> [heads][dim / 2][2].
  std::vector<float>
  in_pairs(const std::vector<float>& rows, size_t columns) const {
    const auto half = static_cast<size_t>(head_dim() / 2);
    std::vector<float> result;
    for (size_t head = 0; head < rows.size() / columns; head += 2 * half) {
      for (size_t i = 0; i < half; ++i) {
        for (const size_t row : {head + i, head + half + i}) {
          result.insert(
              result.end(),
              rows.begin() + static_cast<int64_t>(row * columns),
              rows.begin() + static_cast<int64_t>((row + 1) * columns));
        }
      }
    }
    return result;
  }

  std::string stored_name(std::string name) const {
    const auto turn = [&](const std::string& from, const std::string& to) {
      if (const size_t at = name.find(from); at != std::string::npos) {
        name.replace(at, from.size(), to);
      }
    };
    turn("model.layers.", "blk.");
    turn("model.embed_tokens", "token_embd");
    turn("model.norm", "output_norm");
    turn("lm_head", "output");
    turn("self_attn.q_proj", "attn_q");
    turn("self_attn.k_proj", "attn_k");
    turn("self_attn.v_proj", "attn_v");
    turn("self_attn.qkv_proj", "attn_qkv");
    turn("self_attn.o_proj", "attn_output");
    turn("self_attn.q_norm", "attn_q_norm");
    turn("self_attn.k_norm", "attn_k_norm");
    turn("mlp.gate_proj", "ffn_gate");
    turn("mlp.up_proj", "ffn_up");
    turn("mlp.gate_up_proj", "ffn_up");
    turn("mlp.down_proj", "ffn_down");
    turn("input_layernorm", "attn_norm");
    const bool own = architecture_ == "gemma2" || architecture_ == "gpt-oss";
    turn("post_attention_layernorm", own ? "post_attention_norm" : "ffn_norm");
    turn("pre_feedforward_layernorm", "ffn_norm");
    turn("post_feedforward_layernorm", "post_ffw_norm");
    turn("self_attn.sinks", "attn_sinks.weight");
    turn("mlp.router", "ffn_gate_inp");
    turn("mlp.gate.", "ffn_gate_inp.");
    for (const std::string mix : {"mlp.switch_mlp.", "mlp.experts."}) {
      turn(mix + "gate_proj", "ffn_gate_exps");
      turn(mix + "up_proj", "ffn_up_exps");
      turn(mix + "down_proj", "ffn_down_exps");
    }
    return name;
  }

  void
  add(const std::string& name,
      std::vector<uint64_t> ne,
      const std::vector<float>& values) {
    image_.add_tensor(name, GgufType::kF32, std::move(ne));
    data_.resize(image_.aligned(data_.size()));
    for (const float value : values) {
      put(data_, value);
    }
  }
  void number(const char* key, int64_t value) {
    image_.add<uint32_t>(
        architecture_ + "." + key,
        GgufValue::kU32,
        static_cast<uint32_t>(value));
  }
  void real(const char* key, double value) {
    image_.add<float>(
        architecture_ + "." + key, GgufValue::kF32, static_cast<float>(value));
  }

  const std::string architecture_;
  const std::unordered_map<std::string, mx::array> tensors_;
  const Settings settings_;
  GgufImage image_;
  std::string data_;
};

} // namespace holdfast::test
