// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/gguf_settings.h"

#include <string>
#include <utility>

#include "holdfast/engine/gguf_rope.h"
#include "holdfast/models/weight_source.h"

namespace holdfast {

namespace {

/// Copies entries "<architecture>.<key>" under other names.
class Translation {
 public:
  explicit Translation(const GgufFile& file)
      : file_(file),
        prefix_(
            std::string(file.text("general.architecture").value_or("")) + ".") {
  }

  void number(const char* key, const char* name) {
    if (const auto value = file_.number(prefix_ + key)) {
      values_[name] = *value;
    }
  }
  void size(const char* key, const char* name) {
    if (const auto value = file_.integer(prefix_ + key)) {
      values_[name] = *value;
    }
  }
  void text(const char* key, const char* name) {
    if (const auto value = file_.text(prefix_ + key)) {
      values_[name] = std::string(*value);
    }
  }
  /// A setting that the file says by what it holds.
  void set(const char* name, Setting value) {
    values_[name] = std::move(value);
  }
  /// Elements of a head that turn, as a part of it.
  void rope_part(int64_t head_dim) {
    const auto dims = file_.integer(prefix_ + "rope.dimension_count");
    if (dims && head_dim > 0) {
      values_["partial_rotary_factor"] =
          static_cast<double>(*dims) / static_cast<double>(head_dim);
    }
  }
  Settings take(const ModelConfig& config) {
    add_gguf_rope(file_, prefix_, config, values_);
    return {file_.name(), std::move(values_)};
  }

 private:
  const GgufFile& file_;
  const std::string prefix_;
  SettingValues values_;
};

} // namespace

Settings gguf_settings(const GgufFile& file, const ModelConfig& config) {
  Translation all(file);
  all.rope_part(config.head_dim);
  all.number("attn_logit_softcapping", "attn_logit_softcapping");
  all.number("final_logit_softcapping", "final_logit_softcapping");
  for (const char* name : {"num_experts", "num_local_experts"}) {
    all.size("expert_count", name);
  }
  all.size("expert_used_count", "num_experts_per_tok");
  all.size("expert_feed_forward_length", "moe_intermediate_size");
  all.set("norm_topk_prob", true); // of every mixture that the format has here
  all.set("norms_less_one", false); // one is added when a file is made
  // Biases are where the file has them.
  const auto has = [&](const char* tensor) {
    return file.tensor(tensor) != nullptr;
  };
  all.set("attention_bias", has("blk.0.attn_q.bias"));
  all.set("attention_output_bias", has("blk.0.attn_output.bias"));
  all.set("mlp_bias", has("blk.0.ffn_down.bias"));
  return all.take(config);
}

} // namespace holdfast
