// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The graph of a step as a function of its slot, positions and tokens, recorded
// once and replayed for other steps of as many tokens. What a step does follows
// from its plan alone, which the operations look up when they run: a replay
// gives the bits of a graph built anew.
//
// A value; engine thread. It holds the constants that the graph uses, and no
// row.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "mlx/array.h"

#include "holdfast/plan/plan_cell.h"
#include "holdfast/state/step.h"

namespace holdfast {

class StepGraph {
 public:
  /// Records how `output` [.., not evaluated] comes of a step whose layers have
  /// all been called. constants: all that goes into it and is the same in every
  /// step. Throws kUnsupported where a layer's read makes another graph for
  /// every step, kInvalidArgument where part of it was evaluated already or is
  /// another array without an origin, and where it leaves out a layer.
  StepGraph(
      const Step& step,
      const mlx::core::array& output,
      std::span<const mlx::core::array> constants);

  /// True for a step of the same state or a sibling, with as many tokens.
  bool fits(const Step& step) const;
  /// The output for another step, lazily; its layers count as called. Throws
  /// kInvalidArgument unless it fits and is untouched.
  mlx::core::array replay(Step& step, std::span<const int32_t> tokens) const;
  /// The operations, without inputs and constants.
  int64_t primitives() const {
    return static_cast<int64_t>(nodes_.size());
  }

 private:
  struct Node {
    std::shared_ptr<mlx::core::Primitive> primitive;
    std::vector<size_t> inputs; // values
    std::vector<mlx::core::Shape> shapes; // [output]
    std::vector<mlx::core::Dtype> dtypes;
  };
  class Recorder;

  std::shared_ptr<const PlanCell> cell_;
  int64_t tokens_ = 0;
  std::vector<bool> attended_; // [layer]
  // Values: slot, positions, tokens, constants, then outputs node by node.
  std::vector<mlx::core::array> constants_;
  std::vector<Node> nodes_;
  size_t output_ = 0;
  size_t last_ = 0; // the last layer's
};

} // namespace holdfast
