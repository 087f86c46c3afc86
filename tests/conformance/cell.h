// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A cell of the product that the suite runs: one layer with its codecs, phases,
// window, sinks and head sizes, of keys and values, of a latent, or recurrent.
// A state holds several cells, as its layers, so that one script of row
// operations runs over all of them at once. Values; any thread.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "holdfast/state/state.h"

namespace holdfast::conformance {

struct Cell {
  AttentionSpec spec;
  /// Of a layer with a donor: the donor's; of a recurrent one: none.
  std::vector<LayerPhase> phases;
  std::optional<RecurrentSpec> recurrent = {};

  /// For messages: "q8 / t3 from 10, window 20, ...".
  std::string text() const;
  /// Kernels of ours read all its phases: the bits follow from the tokens
  /// alone. Else MLX's do, within a bound.
  bool exact() const;
  /// What its queries see, or its next step needs.
  Visibility sees() const;
  /// Columns of a token's output.
  int64_t output_width() const;
};

/// Of one state; and a latent, one over a donor, and a recurrent one.
inline constexpr int64_t kCells = 6;
inline constexpr int64_t kRounds = 5; // times kCells: phases x windows

/// The cells of a round of a codec; the last but one reads the state of
/// another. Rounds 0 to kRounds - 1 hold every phase with every window once;
/// sinks, roles, partners, heads and caps are drawn, anew in later rounds.
std::vector<Cell> cells_of(const Codec& codec, int64_t round);
/// Of the blocks behind a recurrent cell's window, how many it keeps one of.
int64_t keep_every_in(int64_t round);

/// A state with the layers of a round.
StateOptions
options_of(const std::vector<Cell>& cells, int64_t round, int threads);

} // namespace holdfast::conformance
