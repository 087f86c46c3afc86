// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/llama.h"

#include <utility>

#include "holdfast/models/decoder.h"

namespace holdfast {

namespace {

constexpr double kTheta = 10000.0;

DecoderShape llama_shape(const WeightSource& source, bool all_sliding) {
  const Settings& settings = source.settings();
  require_setting(settings, "hidden_act", "silu");
  if (settings.flag("rope_traditional", false)) {
    throw settings.refusal(
        "rope_traditional",
        "pairs a half of a head apart (false)",
        "true",
        ErrorCode::kUnsupported);
  }
  DecoderShape shape = usual_shape(source, kTheta);
  shape.windows = layer_windows(source, [=](int64_t) { return all_sliding; });
  shape.qkv_biases = settings.flag("attention_bias", false);
  shape.output_bias = settings.flag("attention_output_bias", shape.qkv_biases);
  shape.ffn_biases = settings.flag("mlp_bias", false);
  return shape;
}

} // namespace

std::unique_ptr<Model> make_llama(const WeightSource& source, Runtime runtime) {
  return make_decoder(source, std::move(runtime), llama_shape(source, false));
}

std::unique_ptr<Model>
make_mistral(const WeightSource& source, Runtime runtime) {
  return make_decoder(source, std::move(runtime), llama_shape(source, true));
}

} // namespace holdfast
