// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A cell of the product that the suite runs: one layer with its codecs, phases,
// window, sinks and head sizes. A state holds several cells, as its layers, so
// that one script of row operations runs over all of them at once. Values; any
// thread.

#pragma once

#include <string>
#include <vector>

#include "holdfast/state/state.h"

namespace holdfast::conformance {

struct Cell {
  AttentionSpec spec;
  std::vector<LayerPhase> phases; // of a layer with a donor: the donor's

  /// For messages: "q8 / t3 from 10, window 20, ...".
  std::string text() const;
  /// Kernels of ours read all its phases: the bits follow from the tokens
  /// alone. Else MLX's do, within a bound.
  bool exact() const;
};

inline constexpr int64_t kCells = 6; // of one state, and one over a donor
inline constexpr int64_t kRounds = 5; // times kCells: phases x windows

/// The cells of a round of a codec; the last reads the state of another. Rounds
/// 0 to kRounds - 1 hold every phase with every window once; sinks, roles,
/// partners, heads and caps are drawn, anew in later rounds.
std::vector<Cell> cells_of(const Codec& codec, int64_t round);

/// A state with these layers.
StateOptions options_of(const std::vector<Cell>& cells, int threads);
/// Its groups, to find a layer's planes.
LayerGroups groups_of(const std::vector<Cell>& cells);

} // namespace holdfast::conformance
