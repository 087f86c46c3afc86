// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/gguf_rope.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace holdfast {

namespace {

constexpr double kBase = 10000.0; // the format's, where no key says
constexpr const char* kAttention = "rope_scaling.attention_factor";

class RopeReader {
 public:
  RopeReader(
      const GgufFile& file,
      const std::string& prefix,
      SettingValues& values)
      : file_(file),
        prefix_(prefix + "rope."),
        values_(values),
        scaling_(gguf_scaling(file, prefix)) {}

  void read(const ModelConfig& config) {
    set("rope_theta", number("freq_base").value_or(kBase));
    set("rope_scaling.rope_type", scaling_.type);
    if (scaling_.type == "linear") {
      set("rope_scaling.factor", scaling_.factor);
      require_no_attention_factor();
    } else if (scaling_.type == "yarn") {
      set("rope_scaling.factor", scaling_.factor);
      read_context(config);
      read_yarn();
    } else if (scaling_.type == "longrope") {
      read_context(config);
      if (const auto magnitude = number("scaling.attn_factor")) {
        set(kAttention, *magnitude);
      }
    } else {
      require_no_attention_factor();
    }
  }

 private:
  std::optional<double> number(const char* key) const {
    return file_.number(prefix_ + key);
  }
  void set(const char* name, Setting value) {
    values_[name] = std::move(value);
  }
  Error refusal(const char* key, const char* expected, double got) const {
    return file_.refusal(prefix_ + key, expected, std::to_string(got));
  }

  /// Positions before the context was extended.
  void read_context(const ModelConfig& config) {
    set("rope_scaling.original_max_position_embeddings",
        file_.integer(prefix_ + "scaling.original_context_length")
            .value_or(config.context));
  }

  void read_yarn() {
    const char* extrapolation = "scaling.yarn_ext_factor";
    const double extrapolated = number(extrapolation).value_or(1.0);
    if (extrapolated > 0.0 && extrapolated != 1.0) { // below 0: not set
      throw refusal(extrapolation, "1", extrapolated);
    }
    if (const auto fast = number("scaling.yarn_beta_fast")) {
      set("rope_scaling.beta_fast", *fast);
    }
    if (const auto slow = number("scaling.yarn_beta_slow")) {
      set("rope_scaling.beta_slow", *slow);
    }
    if (const auto stated = number("scaling.yarn_attn_factor")) {
      set(kAttention, *stated);
    } else if (const auto more = number("scaling.attn_factor")) {
      // Beside what yarn itself scales by.
      set(kAttention,
          *more * (1.0 + 0.1 * std::max(0.0, std::log(scaling_.factor))));
    }
  }

  /// What is not scaled has the magnitude 1.
  void require_no_attention_factor() const {
    const char* key = "scaling.attn_factor";
    const double factor = number(key).value_or(1.0);
    if (factor != 1.0) {
      throw refusal(key, "1, or a scaling that has it", factor);
    }
  }

  const GgufFile& file_;
  const std::string prefix_;
  SettingValues& values_;
  const GgufScaling scaling_;
};

} // namespace

GgufScaling gguf_scaling(const GgufFile& file, const std::string& prefix) {
  const auto type = file.text(prefix + "rope.scaling.type");
  auto factor = file.number(prefix + "rope.scaling.factor");
  if (!factor) {
    factor = file.number(prefix + "rope.scale_linear"); // its older name
  }
  GgufScaling scaling{.type = "linear", .factor = factor.value_or(0.0)};
  if (type) {
    scaling.type = *type;
  } else if (file.tensor("rope_factors_long.weight") != nullptr) {
    scaling.type = "longrope";
  }
  const bool by_nothing = scaling.type == "linear" && scaling.factor == 0.0;
  return scaling.type == "none" || by_nothing ? GgufScaling() : scaling;
}

void add_gguf_rope(
    const GgufFile& file,
    const std::string& prefix,
    const ModelConfig& config,
    SettingValues& values) {
  RopeReader(file, prefix, values).read(config);
}

} // namespace holdfast
