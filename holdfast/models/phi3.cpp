// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/phi3.h"

#include <utility>

#include "holdfast/models/decoder.h"

namespace holdfast {

std::unique_ptr<Model> make_phi3(const WeightSource& source, Runtime runtime) {
  const Settings& settings = source.settings();
  require_setting(settings, "hidden_act", "silu");
  if (settings.flag("attention_bias", false)) {
    throw settings.refusal(
        "attention_bias", "no biases (false)", "true", ErrorCode::kUnsupported);
  }
  DecoderShape shape = usual_shape(source, 10000.0);
  shape.fused = true;
  shape.windows = layer_windows(source, [](int64_t) { return true; });
  return make_decoder(source, std::move(runtime), std::move(shape));
}

} // namespace holdfast
