// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What tells the llama-shaped families apart: a family file fills one of these
// from its settings, and decoder.h makes a model of it. Values; any thread.
//
// Errors: kUnsupported naming the setting for what is not here, kCorrupt for
// one that is wrong.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "holdfast/kernels/cpu/elementwise.h"
#include "holdfast/models/experts.h"
#include "holdfast/models/weight_source.h"

namespace holdfast {

struct DecoderShape {
  cpu::Rope rope;
  std::optional<cpu::Rope> local_rope; // of layers with a window, if another
  std::vector<int64_t> windows; // [layer]; 0: a query sees all before it
  float scale = 1.0f; // of scores
  float softcap = 0.0f; // of scores; 0: none
  float logit_softcap = 0.0f;
  float embedding_scale = 1.0f;
  cpu::Gate gate = cpu::Gate::kSilu;
  bool qkv_biases = false;
  bool output_bias = false; // of attention
  bool ffn_biases = false;
  bool head_norms = false; // of queries and keys
  bool post_norms = false; // behind attention and feed-forward
  bool norms_less_one = false; // norms are stored less one
  bool fused = false; // one tensor for q, k and v, and one for gate and up
  bool tied = false; // the output layer is the embedding table
  bool sinks = false; // a learned logit a query head joins its scores
  ExpertsShape experts; // of the layers below
  std::vector<bool> mixed; // [layer], or empty: none has experts
};

/// What a setting says, or what they say together, of most families: the rope
/// (theta: where no setting says), 1 / sqrt(head size) as scale, whether the
/// output is tied, and no layer with a window.
DecoderShape usual_shape(const WeightSource& source, double theta);

/// The windows of layers that "layer_types" calls sliding, or, where it is
/// absent, those of which `sliding` is true; all 0 without "sliding_window".
std::vector<int64_t> layer_windows(
    const WeightSource& source,
    const std::function<bool(int64_t layer)>& sliding);

/// A cap of scores or logits: 0 for none, which null says too.
float read_cap(const Settings& settings, const char* name, double otherwise);

/// What scores are scaled by: 1 / sqrt("query_pre_attn_scalar"), or, where no
/// setting says, 1 / sqrt(otherwise).
float query_scale(const Settings& settings, double otherwise);

/// Throws unless 1 <= top <= count and ffn >= 1: "NAME: expected ...".
void check_experts(const Settings& settings, const ExpertsShape& experts);

/// Throws kUnsupported unless the setting is absent or says this.
void require_setting(
    const Settings& settings,
    std::string_view name,
    std::string_view expected);

} // namespace holdfast
