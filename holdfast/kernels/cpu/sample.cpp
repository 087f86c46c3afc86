// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/sample.h"

#include <algorithm>

#include "holdfast/env/for_path.h"
#include "holdfast/kernels/cpu/sample-inl.h"
#include "holdfast/kernels/cpu/sample_forms.h"

namespace holdfast::cpu {

namespace {

int64_t collect(const float* x, int64_t n, float least, int32_t* indices) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (x[i] >= least) {
      indices[count++] = static_cast<int32_t>(i);
    }
  }
  return count;
}

const SampleForms& forms(KernelPath path) {
  return *for_path<
      &kSampleAvx512,
      &kSampleAvx512,
      &kSampleVec256,
      &kSamplePlain>(path);
}

/// one(block's first logit, its length, its index) for each block.
template <class F>
void each_block(std::span<const float> logits, F one) {
  const auto n = static_cast<int64_t>(logits.size());
  for (int64_t first = 0, b = 0; first < n; first += kSampleBlock, ++b) {
    one(logits.data() + first, std::min(kSampleBlock, n - first), b);
  }
}

} // namespace

const SampleForms kSamplePlain = {
    maximum<PlainF32>,
    exp_sum<PlainF32>,
    weights<PlainF32>,
    collect};

void block_maxima(
    std::span<const float> logits,
    float* maxima,
    KernelPath path) {
  const auto one = forms(path).maximum;
  each_block(logits, [&](const float* x, int64_t n, int64_t b) {
    maxima[b] = one(x, n);
  });
}

void block_exp_sums(
    std::span<const float> logits,
    const ExpWeights& weights,
    float* sums,
    KernelPath path) {
  const auto one = forms(path).exp_sum;
  each_block(logits, [&](const float* x, int64_t n, int64_t b) {
    sums[b] = one(x, n, weights.max, weights.scale);
  });
}

void exp_weights(
    std::span<const float> logits,
    const ExpWeights& weights,
    float* out,
    KernelPath path) {
  const auto n = static_cast<int64_t>(logits.size());
  forms(path).weights(logits.data(), n, weights.max, weights.scale, out);
}

int64_t collect_at_least(
    std::span<const float> logits,
    float threshold,
    int32_t* indices,
    KernelPath path) {
  const auto n = static_cast<int64_t>(logits.size());
  return forms(path).collect(logits.data(), n, threshold, indices);
}

} // namespace holdfast::cpu
