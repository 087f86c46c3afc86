// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/linear_check.h"

#include <string>

#include "holdfast/base/check.h"

namespace holdfast::cpu {

void check_job(const LinearJob& job) {
  const auto require = [](bool condition, const std::string& text) {
    if (!condition) {
      throw Error(ErrorCode::kInvalidArgument, "[linear] expected " + text);
    }
  };
  require(!job.weights.empty(), "at least one weight, got none");
  require(job.m >= 0, "m >= 0, got " + std::to_string(job.m));
  for (const Weight* weight : job.weights) {
    require(weight != nullptr, "weights, got null");
    require(
        weight->k() == job.weights[0]->k(),
        "weights of one k, got " + std::to_string(job.weights[0]->k()) +
            " and " + std::to_string(weight->k()));
  }
  if (job.gate != Gate::kNone) {
    require(
        job.weights.size() == 2 && job.weights[0]->n() == job.weights[1]->n(),
        "a gate over two weights of one n");
  }
  require(
      job.scales.empty() || job.scales.size() == job.weights.size(),
      "a scale for each weight, got " + std::to_string(job.scales.size()));
  for (const Weight* weight : job.weights) {
    require(
        !weight->format().exact ||
            (job.weights.size() == 1 && job.post_norm.weight == nullptr &&
             job.bias == nullptr && job.added == nullptr && job.scales.empty()),
        "an exact weight alone, without scale, bias, addend or a norm behind "
        "it");
  }
  require(
      job.m == 0 || (job.x != nullptr && job.y != nullptr),
      "x and y, got null");
}

} // namespace holdfast::cpu
