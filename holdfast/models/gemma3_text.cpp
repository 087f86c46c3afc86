// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/gemma3_text.h"

#include <cmath>
#include <string>
#include <utility>

#include "holdfast/base/bits.h"
#include "holdfast/models/decoder.h"
#include "holdfast/models/rope.h"

namespace holdfast {

namespace {

constexpr int64_t kPattern = 6; // every sixth layer is full
constexpr double kTheta = 1e6;
constexpr double kLocalTheta = 1e4;
constexpr double kQueryScalar = 256.0;

/// Newer configurations name a rope a kind of layers, older ones that of the
/// full layers alone, and the base of the others.
void add_ropes(const WeightSource& source, DecoderShape& shape) {
  const Settings& settings = source.settings();
  const int64_t dims = source.config().head_dim;
  const std::string full = "full_attention";
  const std::string sliding = "sliding_attention";
  if (settings.has("rope_parameters." + full)) {
    shape.rope = read_rope_of(source, dims, kTheta, full);
    shape.local_rope = read_rope_of(source, dims, kLocalTheta, sliding);
    return;
  }
  shape.rope = read_rope(source, dims, kTheta);
  shape.local_rope = cpu::Rope{
      .dims = dims,
      .base = rope_base(settings, "rope_local_base_freq", kLocalTheta)};
}

int64_t pattern_of(const Settings& settings) {
  const char* name = "sliding_window_pattern";
  const int64_t pattern =
      settings.size(name, settings.size("_sliding_window_pattern", kPattern));
  if (pattern < 1) {
    throw settings.refusal(name, "at least 1", "0");
  }
  return pattern;
}

} // namespace

std::unique_ptr<Model>
make_gemma3_text(const WeightSource& source, Runtime runtime) {
  const Settings& settings = source.settings();
  const ModelConfig& config = source.config();
  require_setting(settings, "hidden_activation", "gelu_pytorch_tanh");
  if (settings.flag("use_bidirectional_attention", false)) {
    throw settings.refusal(
        "use_bidirectional_attention",
        "a model that sees what is before (false)",
        "true",
        ErrorCode::kUnsupported);
  }
  if (config.window < 1) {
    throw settings.refusal("sliding_window", "at least 1", "none");
  }
  DecoderShape shape = usual_shape(source, kTheta);
  add_ropes(source, shape);
  const int64_t pattern = pattern_of(settings);
  shape.windows =
      layer_windows(source, [=](int64_t i) { return (i + 1) % pattern != 0; });
  shape.scale = query_scale(settings, kQueryScalar);
  shape.softcap = read_cap(settings, "attn_logit_softcapping", 0.0);
  shape.logit_softcap = read_cap(settings, "final_logit_softcapping", 0.0);
  // The family rounds this factor to bf16, as it was trained.
  shape.embedding_scale =
      bf16_to_f32(f32_to_bf16(std::sqrt(static_cast<float>(config.hidden))));
  shape.gate = cpu::Gate::kGeluTanh;
  shape.head_norms = true;
  shape.post_norms = true;
  shape.norms_less_one = true;
  return make_decoder(source, std::move(runtime), std::move(shape));
}

} // namespace holdfast
