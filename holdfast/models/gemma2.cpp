// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/gemma2.h"

#include <cmath>
#include <string>
#include <utility>

#include "holdfast/models/decoder.h"

namespace holdfast {

namespace {

/// What scores are scaled by, where no setting says: the largest model (27B,
/// told by its layers) takes hidden / query heads for the head size.
double usual_scalar(const ModelConfig& config) {
  constexpr int64_t kLayersOfLargest = 46;
  return static_cast<double>(
      config.layers == kLayersOfLargest ? config.hidden / config.query_heads
                                        : config.head_dim);
}

} // namespace

std::unique_ptr<Model>
make_gemma2(const WeightSource& source, Runtime runtime) {
  const Settings& settings = source.settings();
  require_setting(settings, "hidden_activation", "gelu_pytorch_tanh");
  DecoderShape shape = usual_shape(source, 10000.0);
  shape.windows = layer_windows(source, [](int64_t i) { return i % 2 == 0; });
  shape.scale = query_scale(settings, usual_scalar(source.config()));
  shape.softcap = read_cap(settings, "attn_logit_softcapping", 50.0);
  shape.logit_softcap = read_cap(settings, "final_logit_softcapping", 30.0);
  shape.embedding_scale = std::sqrt(static_cast<float>(source.config().hidden));
  shape.gate = cpu::Gate::kGeluTanh;
  shape.post_norms = true;
  shape.norms_less_one = settings.flag("norms_less_one", true);
  return make_decoder(source, std::move(runtime), std::move(shape));
}

} // namespace holdfast
