// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/expert_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "holdfast/env/for_path.h"
#include "holdfast/kernels/cpu/elementwise_lanes.h"

namespace holdfast::cpu {

namespace {

const LaneTable& lanes(KernelPath path) {
  return for_path<avx512_lanes, avx512_lanes, vec256_lanes, plain_lanes>(
      path)();
}

/// exp(score - largest), and their sum in order.
float exponentials(std::vector<float>& scores, KernelPath path) {
  const float largest = *std::ranges::max_element(scores);
  for (float& score : scores) {
    score -= largest;
  }
  std::vector<float> result(scores.size());
  lanes(path).map(
      LaneFunction::kExpNonpositive,
      scores.data(),
      static_cast<int64_t>(scores.size()),
      result.data());
  scores = std::move(result);
  return std::accumulate(scores.begin(), scores.end(), 0.0f);
}

/// The indices of the largest, ascending.
std::vector<size_t> largest_of(std::span<const float> scores, size_t top) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto end = order.begin() + static_cast<int64_t>(top);
  std::partial_sort(order.begin(), end, order.end(), [&](size_t a, size_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  order.erase(end, order.end());
  std::ranges::sort(order);
  return order;
}

} // namespace

std::vector<ExpertShare> choose_experts(
    std::span<const float> scores,
    int64_t top,
    Routing routing,
    KernelPath path) {
  std::vector<ExpertShare> chosen;
  if (std::ranges::any_of(scores, [](float s) { return std::isnan(s); })) {
    for (int64_t i = 0; i < top; ++i) {
      chosen.push_back({i, std::numeric_limits<float>::quiet_NaN()});
    }
    return chosen;
  }
  const auto order = largest_of(scores, static_cast<size_t>(top));
  std::vector<float> values(scores.begin(), scores.end());
  if (routing == Routing::kSoftmaxOfTop) {
    values.clear();
    for (const size_t i : order) {
      values.push_back(scores[i]);
    }
  }
  float sum = exponentials(values, path);
  if (routing == Routing::kSoftmaxShare) {
    sum = 0.0f;
    for (const size_t i : order) {
      sum += values[i];
    }
  }
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const size_t at = routing == Routing::kSoftmaxOfTop ? rank : order[rank];
    chosen.push_back({static_cast<int64_t>(order[rank]), values[at] / sum});
  }
  return chosen;
}

} // namespace holdfast::cpu
