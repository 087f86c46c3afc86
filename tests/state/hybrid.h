// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A recurrent layer beside one of attention in one state, and one sequence for
// both. One thread.

#pragma once

#include <memory>
#include <vector>

#include "tests/recurrent/recurrent_rig.h"
#include "tests/state/layers.h"

namespace holdfast::test {

inline const RecurrentSpec kSpec{2, 4, 32, 32, 4};

// A recurrent layer, then one of attention.
inline StateOptions hybrid(Bytes max_bytes = Bytes(0)) {
  StateOptions options = test::options();
  options.layers = {kSpec, options.layers.front()};
  options.max_bytes = max_bytes;
  return options;
}

class Hybrid {
 public:
  explicit Hybrid(int64_t tokens)
      : weights_(std::make_shared<const cpu::GatedDelta>(
            RecurrentWeights(kSpec, 1).layer())),
        inputs_(random_inputs(kSpec, tokens, 2)),
        sequence_(tokens, 3) {}

  mx::array inputs(int64_t first, int64_t count) const {
    return mx::array(
        inputs_.data() + first * kSpec.input_width(),
        mx::Shape{
            static_cast<int>(count), static_cast<int>(kSpec.input_width())},
        mx::float32);
  }
  const std::shared_ptr<const cpu::GatedDelta>& weights() const {
    return weights_;
  }
  mx::array attend(Step& step, int64_t first, int64_t count) const {
    const Part part{&sequence_, first, count};
    return step.attend(
        LayerIndex(1),
        gather({part}, &Sequence::q, kHeads),
        gather({part}, &Sequence::k, kKvHeads),
        gather({part}, &Sequence::v, kKvHeads));
  }

  // The recurrent layer's outputs of tokens [first, first + count).
  std::vector<float>
  append(State& state, RowId row, int64_t first, int64_t count) const {
    const RowAppend append{row, count};
    Step step = state.begin({&append, 1});
    auto out = step.recur(LayerIndex(0), weights_, inputs(first, count));
    auto read = attend(step, first, count);
    mx::eval({out, read});
    step.commit_all();
    return values_of(out);
  }

 private:
  std::shared_ptr<const cpu::GatedDelta> weights_;
  std::vector<float> inputs_;
  Sequence sequence_;
};

} // namespace holdfast::test
