// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What is true of a recurrent cell: each token's inputs, and the layer written
// out in double from the beginning of a row. Values; any thread.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tests/recurrent/recurrent_rig.h"
#include "truth.h"

namespace holdfast::conformance {

class RecurrentTruth {
 public:
  explicit RecurrentTruth(const RecurrentSpec& spec);

  const RecurrentSpec& spec() const {
    return weights_.spec;
  }
  const std::shared_ptr<const cpu::GatedDelta>& layer() const {
    return layer_;
  }
  /// [input_width]
  std::span<const float> input(int32_t token) const;
  /// What a block keeps of it for a key head: q, k and its values before the
  /// convolution, [head_width].
  std::vector<float> kept(int32_t token, int64_t head) const;
  /// The output of the last of these, a row's first ones.
  Truth::Output attend(std::span<const TokenAt> tokens) const;

 private:
  test::RecurrentWeights weights_;
  std::shared_ptr<const cpu::GatedDelta> layer_;
  std::vector<float> inputs_; // [token][input_width]
};

} // namespace holdfast::conformance
