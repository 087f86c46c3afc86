// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/gemma2.h"

#include <cmath>
#include <string>
#include <utility>

#include "holdfast/models/decoder.h"

namespace holdfast {

namespace {

/// A cap, 0 for none, which null says too.
float cap(const Settings& settings, const char* name, double otherwise) {
  const double value =
      settings.number(name, settings.is_null(name) ? 0.0 : otherwise);
  if (!(value >= 0.0)) {
    throw settings.refusal(name, "0 or above", std::to_string(value));
  }
  return static_cast<float>(value);
}

/// What scores are scaled by, where no setting says: the largest model (27B,
/// told by its layers) takes hidden / query heads for the head size.
double query_scalar(const WeightSource& source) {
  constexpr int64_t kLayersOfLargest = 46;
  const ModelConfig& config = source.config();
  const int64_t usual = config.layers == kLayersOfLargest
      ? config.hidden / config.query_heads
      : config.head_dim;
  const Settings& settings = source.settings();
  const char* name = "query_pre_attn_scalar";
  const double value = settings.number(name, static_cast<double>(usual));
  if (!(value > 0.0)) {
    throw settings.refusal(name, "above 0", std::to_string(value));
  }
  return value;
}

} // namespace

std::unique_ptr<Model>
make_gemma2(const WeightSource& source, Runtime runtime) {
  const Settings& settings = source.settings();
  require_setting(settings, "hidden_activation", "gelu_pytorch_tanh");
  DecoderShape shape = usual_shape(source, 10000.0);
  shape.windows = layer_windows(source, [](int64_t i) { return i % 2 == 0; });
  shape.scale = static_cast<float>(1.0 / std::sqrt(query_scalar(source)));
  shape.softcap = cap(settings, "attn_logit_softcapping", 50.0);
  shape.logit_softcap = cap(settings, "final_logit_softcapping", 30.0);
  shape.embedding_scale = std::sqrt(static_cast<float>(source.config().hidden));
  shape.gate = cpu::Gate::kGeluTanh;
  shape.post_norms = true;
  shape.norms_less_one = settings.flag("norms_less_one", true);
  return make_decoder(source, std::move(runtime), std::move(shape));
}

} // namespace holdfast
