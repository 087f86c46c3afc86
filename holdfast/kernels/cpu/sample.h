// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The passes over a row of logits that choosing a token is made of. The logits
// are cut into blocks of kSampleBlock; a later pass then touches only the few
// blocks that matter.
//
// Invariants: every path gives the same bits (16 strided f32 lanes a block,
// added in a fixed tree); NaN counts as minus infinity.
// Threads: any; each call works on the calling thread alone.

#pragma once

#include <cstdint>
#include <span>

#include "holdfast/env/cpu.h"

namespace holdfast::cpu {

inline constexpr int64_t kSampleBlock = 256;

/// maxima[b] = the largest logit of block b. maxima: [ceil(n / kSampleBlock)].
void block_maxima(
    std::span<const float> logits,
    float* maxima,
    KernelPath path);

/// exp(scale * (x - max)) of each logit x, with `max` not below any of them.
struct ExpWeights {
  float max = 0.0f;
  float scale = 1.0f; // 1 / temperature, finite
};

/// sums[b] = the sum of block b's weights. sums: [ceil(n / kSampleBlock)].
void block_exp_sums(
    std::span<const float> logits,
    const ExpWeights& weights,
    float* sums,
    KernelPath path);

/// out[i] = the weight of logits[i]; they may be the same array.
void exp_weights(
    std::span<const float> logits,
    const ExpWeights& weights,
    float* out,
    KernelPath path);

/// Writes the indices of all logits >= threshold in ascending order and returns
/// how many. indices: [n].
int64_t collect_at_least(
    std::span<const float> logits,
    float threshold,
    int32_t* indices,
    KernelPath path);

} // namespace holdfast::cpu
