// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/qwen3_moe.h"

#include <utility>

#include "holdfast/models/decoder.h"
#include "holdfast/models/qwen.h"

namespace holdfast {

namespace {

/// Every "decoder_sparse_step"th layer, but for "mlp_only_layers".
std::vector<bool> mixed_layers(const Settings& settings, int64_t layers) {
  const int64_t step = settings.size("decoder_sparse_step", 1);
  if (step < 1) {
    throw settings.refusal("decoder_sparse_step", "at least 1", "0");
  }
  std::vector<bool> mixed;
  for (int64_t i = 0; i < layers; ++i) {
    mixed.push_back((i + 1) % step == 0);
  }
  const char* name = "mlp_only_layers";
  if (!settings.has(name)) {
    return mixed;
  }
  for (const double layer : settings.numbers(name)) {
    if (layer >= 0.0 && layer < static_cast<double>(layers)) {
      mixed[static_cast<size_t>(layer)] = false;
    }
  }
  return mixed;
}

} // namespace

std::unique_ptr<Model>
make_qwen3_moe(const WeightSource& source, Runtime runtime) {
  const Settings& settings = source.settings();
  DecoderShape shape = qwen3_shape(source);
  shape.experts = {
      .count = settings.size("num_experts"),
      .top = settings.size("num_experts_per_tok"),
      .ffn = settings.size("moe_intermediate_size"),
      .routing = settings.flag("norm_topk_prob", false)
          ? cpu::Routing::kSoftmaxShare
          : cpu::Routing::kSoftmax,
      .router = "mlp.gate",
      .stacked = "mlp.switch_mlp",
      .single = "mlp.experts"};
  check_experts(settings, shape.experts);
  shape.mixed = mixed_layers(settings, source.config().layers);
  return make_decoder(source, std::move(runtime), std::move(shape));
}

} // namespace holdfast
