// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The state of a model: the rows' chains over one block pool, the codecs and
// the chosen read of every layer, and the one stream on which its arrays are
// made.
//
// Threads: the engine thread alone (the thread that built it).
// Invariants: DESIGN section 3; a step is all or nothing across layers.

#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mlx/stream.h"

#include "holdfast/codec/codec.h"
#include "holdfast/env/runtime.h"
#include "holdfast/plan/layer_spec.h"
#include "holdfast/state/step.h"

namespace holdfast {

struct StateOptions {
  std::vector<AttentionSpec> layers;
  const Codec* keys = nullptr;
  const Codec* values = nullptr;
  Bytes max_bytes{0}; // 0: no limit of ours
  Runtime runtime;
  bool reference_read = false; // decode to dense and MLX's own attention
};

class State {
 public:
  /// Throws kUnsupported where no codec or read covers a layer, naming layer
  /// and reason. Its stream is a thread of MLX's, which stays until the process
  /// ends.
  explicit State(StateOptions options);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// A new empty row.
  RowId add_row();
  /// Drops a row and what it alone holds; false where it is gone already. Not
  /// during a step.
  bool remove_row(RowId row);
  /// A new row with the same committed positions; blocks are shared.
  RowId fork_row(RowId row);
  /// Committed positions of a row.
  Position length(RowId row) const;
  /// Forgets the positions from `length` on; throws below the reusable floor.
  void trim(RowId row, Position length);

  /// Begins a step over these rows in this order. Refuses (throws
  /// kOutOfBudget, kInvalidArgument) before anything changes.
  Step begin(std::span<const RowAppend> rows);

  Bytes bytes() const; // held now, whole images
  Bytes peak_bytes() const;
  /// What one more position costs while no window is full, on average.
  Bytes bytes_per_token() const;
  /// The read chosen for each layer, one line a layer, with why others were
  /// not.
  std::string explain() const;
  const StateOptions& options() const;
  mlx::core::Stream stream() const;

 private:
  friend class Step;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

} // namespace holdfast
