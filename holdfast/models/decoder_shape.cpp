// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/decoder_shape.h"

#include <cmath>
#include <string>

#include "holdfast/models/rope.h"

namespace holdfast {

namespace {

constexpr const char* kSliding = "sliding_attention";
constexpr const char* kFull = "full_attention";

/// [layer] by "layer_types".
std::vector<bool> stated_types(const Settings& settings, int64_t layers) {
  const char* name = "layer_types";
  std::vector<bool> sliding;
  for (const std::string& type : settings.texts(name)) {
    if (type != kSliding && type != kFull) {
      throw settings.refusal(
          name,
          std::string(kSliding) + " or " + kFull,
          '"' + type + '"',
          ErrorCode::kUnsupported);
    }
    sliding.push_back(type == kSliding);
  }
  if (std::ssize(sliding) != layers) {
    throw settings.refusal(
        name,
        std::to_string(layers) + " words, one a layer",
        std::to_string(sliding.size()));
  }
  return sliding;
}

} // namespace

DecoderShape usual_shape(const WeightSource& source, double theta) {
  const Settings& settings = source.settings();
  const ModelConfig& config = source.config();
  DecoderShape shape;
  shape.rope = read_rope(source, rope_dims(source), theta);
  shape.windows.assign(static_cast<size_t>(config.layers), 0);
  shape.scale = 1.0f / std::sqrt(static_cast<float>(config.head_dim));
  shape.tied =
      settings.flag("tie_word_embeddings", !source.has("lm_head.weight"));
  return shape;
}

std::vector<int64_t> layer_windows(
    const WeightSource& source,
    const std::function<bool(int64_t layer)>& sliding) {
  const Settings& settings = source.settings();
  const ModelConfig& config = source.config();
  std::vector<bool> types;
  if (settings.has("layer_types")) {
    types = stated_types(settings, config.layers);
  } else {
    for (int64_t i = 0; i < config.layers; ++i) {
      types.push_back(config.window > 0 && sliding(i));
    }
  }
  std::vector<int64_t> windows;
  for (const bool narrow : types) {
    if (narrow && config.window < 1) {
      throw settings.refusal("sliding_window", "at least 1", "none");
    }
    windows.push_back(narrow ? config.window : 0);
  }
  return windows;
}

float read_cap(const Settings& settings, const char* name, double otherwise) {
  const double value =
      settings.number(name, settings.is_null(name) ? 0.0 : otherwise);
  if (!(value >= 0.0)) {
    throw settings.refusal(name, "0 or above", std::to_string(value));
  }
  return static_cast<float>(value);
}

float query_scale(const Settings& settings, double otherwise) {
  const char* name = "query_pre_attn_scalar";
  const double value = settings.number(name, otherwise);
  if (!(value > 0.0)) {
    throw settings.refusal(name, "above 0", std::to_string(value));
  }
  return static_cast<float>(1.0 / std::sqrt(value));
}

void check_experts(const Settings& settings, const ExpertsShape& experts) {
  if (experts.top < 1 || experts.top > experts.count) {
    throw settings.refusal(
        "num_experts_per_tok",
        "1 to the " + std::to_string(experts.count) + " experts",
        std::to_string(experts.top));
  }
  if (experts.ffn < 1) {
    throw settings.refusal("moe_intermediate_size", "at least 1", "0");
  }
}

void require_setting(
    const Settings& settings,
    std::string_view name,
    std::string_view expected) {
  const std::string got = settings.text(name, expected);
  if (got != expected) {
    throw settings.refusal(
        name, expected, '"' + got + '"', ErrorCode::kUnsupported);
  }
}

} // namespace holdfast
