// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/gated_delta.h"

#include <cmath>
#include <iterator>

#include "holdfast/base/check.h"

namespace holdfast::cpu {

GatedDelta GatedDelta::make(
    const RecurrentSpec& spec,
    std::span<const float> conv,
    std::span<const float> a_log,
    std::span<const float> bias,
    std::span<const float> norm) {
  check_recurrent(spec).check();
  const int64_t width = spec.head_width();
  expect(
      std::ssize(conv) == spec.key_heads * width * spec.taps &&
          std::ssize(a_log) == spec.value_heads &&
          std::ssize(bias) == spec.value_heads &&
          std::ssize(norm) == spec.value_dim,
      "[recurrent] expected weights of the spec's sizes, got other ones");
  GatedDelta result{
      .spec = spec,
      .conv = std::vector<float>(conv.size()),
      .rate = {},
      .bias = {bias.begin(), bias.end()},
      .norm = {norm.begin(), norm.end()}};
  for (const float value : a_log) {
    result.rate.push_back(std::exp(double{value}));
  }
  const int64_t keys = spec.key_heads * spec.key_dim;
  const int64_t values = spec.sharing() * spec.value_dim;
  for (int64_t head = 0; head < spec.key_heads; ++head) {
    for (int64_t c = 0; c < width; ++c) {
      // The channel of the head's column c: q, then k, then v of all heads.
      const int64_t channel = c < 2 * spec.key_dim
          ? c / spec.key_dim * keys + head * spec.key_dim + c % spec.key_dim
          : 2 * keys + head * values + c - 2 * spec.key_dim;
      for (int64_t j = 0; j < spec.taps; ++j) {
        result.conv[static_cast<size_t>((head * spec.taps + j) * width + c)] =
            conv[static_cast<size_t>(channel * spec.taps + j)];
      }
    }
  }
  return result;
}

} // namespace holdfast::cpu
