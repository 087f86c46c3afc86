// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/gpt_oss.h"

#include <string>
#include <utility>

#include "holdfast/models/decoder.h"

namespace holdfast {

std::unique_ptr<Model>
make_gpt_oss(const WeightSource& source, Runtime runtime) {
  const Settings& settings = source.settings();
  const ModelConfig& config = source.config();
  // The published limit is the kernels'.
  constexpr double kLimit = 7.0;
  const double limit = settings.number("swiglu_limit", kLimit);
  if (limit != kLimit) {
    throw settings.refusal(
        "swiglu_limit", "7", std::to_string(limit), ErrorCode::kUnsupported);
  }
  DecoderShape shape = usual_shape(source, 150000.0);
  shape.windows = layer_windows(source, [](int64_t i) { return i % 2 == 0; });
  shape.qkv_biases = true;
  shape.output_bias = true;
  shape.sinks = true;
  shape.gate = cpu::Gate::kClampedSwiglu;
  shape.experts = {
      .count = settings.size("num_local_experts"),
      .top = settings.size("num_experts_per_tok"),
      .ffn = settings.size("moe_intermediate_size", config.ffn),
      .routing = cpu::Routing::kSoftmaxOfTop,
      .biases = true,
      .router = "mlp.router",
      .stacked = "mlp.experts"};
  check_experts(settings, shape.experts);
  shape.mixed.assign(static_cast<size_t>(config.layers), true);
  return make_decoder(source, std::move(runtime), std::move(shape));
}

} // namespace holdfast
