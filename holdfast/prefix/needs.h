// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to prefix/: what a row of so many positions must hold, asked of
// Chain, and in which phases a cold run may store it. Any thread.

#pragma once

#include <cstdint>
#include <vector>

#include "holdfast/rows/chain.h"

namespace holdfast {

class Needs {
 public:
  /// rules: [group].
  explicit Needs(const std::vector<GroupRule>& rules);

  /// The blocks of every group that a row restored at that length holds.
  std::vector<HeldBlocks> held(Position length) const;

 private:
  std::vector<GroupRule> windows_; // the rules without their phases
  std::vector<int64_t> first_phases_;
};

/// The lengths [least, most] at which rows are stored in that phase: Chain
/// enters it at its start, and leaves it at the next or, where a span covers
/// that, at the span's end.
struct PhaseBounds {
  Position least;
  Position most;
};
PhaseBounds
phase_bounds(const GroupRule& rule, int64_t phase, BidirectionalSpans spans);

} // namespace holdfast
