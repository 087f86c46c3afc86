// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A layer's state under the queries of somebody else, such as a drafter:
// attention over committed positions of some rows, without append. It never
// converts, seals, releases or moves anything.
//
// A live view follows its rows: each attend() sees what is committed then. An
// array that was not evaluated before one of the rows it reads changed (a step
// begun over it, a trim, the row gone) refuses with kStale. A pinned view is
// frozen: it holds the blocks of its layer's group and copies of the tails, so
// that neither changes nor the end of the State reach it or its arrays.
//
// Threads: the engine thread. A value; copies share.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mlx/array.h"

#include "holdfast/base/strong.h"
#include "holdfast/plan/layer_spec.h"
#include "holdfast/rows/batch.h"
#include "holdfast/state/view_plan.h"

namespace holdfast {

/// What a reader says of its own attention over a layer; keys, values and their
/// heads are the layer's.
struct ReaderSpec {
  int64_t query_heads = 0;
  float scale = 1.0f;
  float softcap = 0.0f;
  Visibility visibility = {};
  std::vector<float> sink_logits = {}; // [query_heads] or empty
};

class LayerView {
 public:
  /// In the order given to State::view.
  std::span<const RowId> rows() const;
  /// The positions that queries may see of a row. Throws kNotFound for a row
  /// that the view or, where it is live, the State has not; kStale where the
  /// State is gone; kInvalidArgument while a step over the row is open.
  Position length(RowId row) const;

  /// q: [T, Hq, D] f32, T the counts of `queries` together, in their order; of
  /// a latent layer D is the latent's and the key's. Returns [T, Hq, Dv] f32,
  /// lazy. A query sees what one of the layer would see there of what is
  /// committed, cut to its span. Throws as length(), kInvalidArgument for other
  /// shapes, counts, positions, spans, and a query that sees nothing,
  /// kUnsupported where it sees positions that the row has released, kCorrupt
  /// where it is not intact(); an array that is evaluated then throws, whatever
  /// MLX makes of that error, and means nothing.
  mlx::core::array
  attend(const mlx::core::array& q, std::span<const ViewQueries> queries) const;

  /// The rows as they are now. Throws as length(), kOutOfBudget where the tails
  /// find no room, before anything changes. Of a pinned view: the same.
  LayerView pin() const;
  bool pinned() const;
  /// False where a file under a stored image of its rows was cut short: what
  /// was read since then means nothing. Throws as length().
  bool intact() const;
  /// The whole images that it holds, shared or not; a live one holds none.
  Bytes bytes() const;
  /// The read it uses, and why not others.
  const std::string& explain() const;

 private:
  friend class State;
  struct Impl;
  explicit LayerView(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

} // namespace holdfast
