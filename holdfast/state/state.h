// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The state of a model: the rows' chains over one block pool, the codecs and
// the chosen read of every layer, and the one stream on which its arrays are
// made. A State is also a batch: rows move between it and its siblings, which
// share all but the rows.
//
// Threads: the engine thread alone (the thread that built it).
// Invariants: rows/chain.h's; a step is all or nothing across layers.

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mlx/stream.h"

#include "holdfast/codec/codec.h"
#include "holdfast/env/runtime.h"
#include "holdfast/plan/fetch.h"
#include "holdfast/plan/group.h"
#include "holdfast/plan/layer_spec.h"
#include "holdfast/state/layer_view.h"
#include "holdfast/state/precision.h"
#include "holdfast/state/signature.h"
#include "holdfast/state/snapshot.h"
#include "holdfast/state/step.h"

namespace holdfast {

struct StateOptions {
  std::vector<LayerSpec> layers;
  Precision precision;
  Bytes max_bytes{0}; // 0: no limit of ours
  Runtime runtime;
  bool reference_read = false; // decode to dense and MLX's own attention
  /// Recurrent layers keep every so many-th block for rows to go back to (see
  /// docs/recurrent.md); 0: what the next step needs alone. Decides what trims
  /// and prefixes are possible and what rows cost, never bits: no part of the
  /// signature. What layers of attention keep is their windows' business.
  int64_t recurrent_keep_every = 0;
  /// What the model says of itself that decides bits and no layer names, such
  /// as "weights" and their digest, "config", "adapter": the signature's first
  /// fields.
  std::vector<Signature::Field> identity = {};
};

class State {
 public:
  /// Throws kUnsupported where no codec or read covers a layer, naming layer
  /// and reason. Its stream is a thread of MLX's, which stays until the process
  /// ends.
  explicit State(StateOptions options);
  State(State&&) noexcept;
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // Rows. docs/rows.md has the table of what each does; none works within a
  // step (kInvalidArgument), and each refuses before anything changes.

  /// A new empty row, last in order.
  RowId add_row();
  /// Drops a row and what it alone holds; false where it is gone already.
  bool remove_row(RowId row);
  /// A new row, last in order, with the same committed positions; blocks are
  /// shared, an open tail is copied. Throws kOutOfBudget.
  RowId fork_row(RowId row);
  /// Forgets the positions from `length` on, which is 0 or its own
  /// reusable_length. Throws kUnsupported for others.
  void trim(RowId row, Position length);
  /// Keeps these rows, in this order; drops the others.
  void filter(std::span<const RowId> keep);
  /// `order` names every row once.
  void reorder(std::span<const RowId> order);
  /// An empty State beside this one: same pool, budget, stream and reads.
  State sibling() const;
  /// A sibling with forks of these rows, in this order. This stays as it is.
  State extract(std::span<const RowId> rows) const;
  /// Forks of a sibling's rows, in this order, behind the rows here; returns
  /// their names. The sibling stays as it is.
  std::vector<RowId> merge(const State& source, std::span<const RowId> rows);
  /// The same, but the rows themselves: they leave the sibling, no byte moves.
  std::vector<RowId> take(State& source, std::span<const RowId> rows);
  /// The row as a value of its own. `tokens` are its committed positions'
  /// (kInvalidArgument for another number). Throws kOutOfBudget where an open
  /// tail finds no room.
  Snapshot snapshot(
      RowId row,
      std::span<const int32_t> tokens,
      std::vector<Attachment> attachments = {});
  /// A new row, last in order, that goes on from a snapshot. Throws
  /// kUnsupported naming the field in which the signatures differ,
  /// kOutOfBudget.
  RowId adopt(const Snapshot& snapshot);

  // What a prefix index needs (docs/rows.md).

  /// From here on, or no longer, the row keeps what becomes a full block in it,
  /// for take_sealed; such blocks are held until they are taken or the row
  /// goes.
  void keep_sealed(RowId row, bool keep);
  /// The blocks that became full in the row since the last call.
  std::vector<SealedBlock> take_sealed(RowId row);
  /// A sealed block over a stored image that nobody writes while it lives, 4
  /// KiB aligned, as large as groups() says: shared by rows, never copied.
  BlockRef adopt_image(
      int64_t group,
      int64_t phase,
      std::shared_ptr<const std::byte> image);
  /// Tokens, as many as facts.committed, and stored blocks as a snapshot of
  /// this state's signature. Throws what plan/chains.h's assemble does,
  /// kOutOfBudget for the tokens.
  Snapshot assemble(
      std::span<const int32_t> tokens,
      const ChainFacts& facts,
      const std::vector<std::vector<BlockRef>>& held);
  /// Called on the engine thread, for all siblings, before anything is refused
  /// for want of room.
  void set_reclaimer(Reclaimer reclaimer);
  const LayerGroups& groups() const;

  std::span<const RowId> rows() const;
  /// Committed positions of a row.
  Position length(RowId row) const;
  /// From this length on trim may leave any, save inside a bidirectional span.
  Position reusable_floor(RowId row) const;
  /// The largest length up to `most` that trim may leave: not inside a
  /// bidirectional span; below the floor one at which every layer still has
  /// what the next token sees; 0 where there is no other.
  Position reusable_length(RowId row, Position most) const;
  /// The most tokens that a step may append to the row: an append ends where
  /// the precision changes, whatever other rows do, or at the end of a
  /// bidirectional span over that place. spans: all of the row, or those to
  /// come.
  int64_t max_append(RowId row, BidirectionalSpans spans = {}) const;
  /// How many of at most `wanted` >= 1 tokens the row's next chunk takes:
  /// within max_append, up to a span that it would cut; a span that is the
  /// first to come goes whole, though it be longer than wanted. spans_from()
  /// says which are in the chunk. Throws kInvalidArgument.
  int64_t fit_append(RowId row, int64_t wanted, BidirectionalSpans spans) const;
  /// Keys and values of a layer as they decode, owned.
  FetchedChannels fetch(RowId row, LayerIndex layer) const;

  /// What others may attend over of a layer: another layer, a drafter. rows:
  /// each once, at least one; reader: the layer's own attention where left out.
  /// Throws kNotFound, kInvalidArgument, kUnsupported for a recurrent layer and
  /// where no read covers the reader.
  LayerView view(
      std::span<const RowId> rows,
      LayerIndex layer,
      const std::optional<ReaderSpec>& reader = {}) const;

  /// Begins a step over these rows in this order. Rows that are due change
  /// their precision first. Refuses (throws kOutOfBudget, kInvalidArgument)
  /// before anything changes.
  Step begin(std::span<const RowAppend> rows);

  /// What counts in the budget now, of all siblings: whole images, and what
  /// snapshots hold beside theirs (tokens, attachments).
  Bytes bytes() const;
  Bytes peak_bytes() const;
  /// False where a file under a stored image of the row was cut short: no step
  /// of it commits any more.
  bool intact(RowId row) const;
  /// The images that a row holds, shared or not.
  Bytes retained_bytes(RowId row) const;
  /// What one more position costs while no window is full and every layer is in
  /// its last phase, on average, with what recurrent layers keep.
  Bytes bytes_per_token() const;
  /// The most bytes that the row's images take while it grows by `more` tokens,
  /// at most `at_once` in one step: as if it shared nothing, in whole blocks,
  /// both phases of a conversion included. spans: the bidirectional ones among
  /// these tokens, each in one step.
  Bytes projected_bytes(
      RowId row,
      int64_t more,
      int64_t at_once = 1,
      BidirectionalSpans spans = {}) const;
  /// The read chosen for each layer and its phases, one line a layer, with why
  /// other reads were not chosen.
  std::string explain() const;
  const Signature& signature() const;
  const StateOptions& options() const;
  mlx::core::Stream stream() const;

 private:
  friend class Step;
  friend class LayerView;
  struct Impl;
  explicit State(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

} // namespace holdfast
