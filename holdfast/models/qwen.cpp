// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/qwen.h"

#include <utility>

#include "holdfast/models/decoder.h"

namespace holdfast {

namespace {

constexpr double kTheta = 1e6;
constexpr int64_t kFirstWindow = 28; // where no setting says

DecoderShape qwen_shape(const WeightSource& source) {
  const Settings& settings = source.settings();
  require_setting(settings, "hidden_act", "silu");
  DecoderShape shape = usual_shape(source, kTheta);
  // "sliding_window" is stated by models that do not use it.
  const bool used = settings.flag("use_sliding_window", false);
  const int64_t first = settings.size("max_window_layers", kFirstWindow);
  shape.windows =
      layer_windows(source, [=](int64_t i) { return used && i >= first; });
  return shape;
}

} // namespace

std::unique_ptr<Model> make_qwen2(const WeightSource& source, Runtime runtime) {
  DecoderShape shape = qwen_shape(source);
  shape.qkv_biases = true;
  return make_decoder(source, std::move(runtime), std::move(shape));
}

DecoderShape qwen3_shape(const WeightSource& source) {
  DecoderShape shape = qwen_shape(source);
  shape.head_norms = true;
  shape.qkv_biases = source.settings().flag("attention_bias", false);
  shape.output_bias =
      source.settings().flag("attention_output_bias", shape.qkv_biases);
  return shape;
}

std::unique_ptr<Model> make_qwen3(const WeightSource& source, Runtime runtime) {
  return make_decoder(source, std::move(runtime), qwen3_shape(source));
}

} // namespace holdfast
