// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Runs scripts on a state of several cells (its layers), on a sibling and on a
// plain model of both, and compares: what is stored with encode(truth), reads
// with attention in double, outputs with those of the row alone in a state of
// another number of threads, bytes with the images held. A difference throws
// std::runtime_error. Engine thread.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "holdfast/state/step_graph.h"
#include "recurrent_truth.h"
#include "script.h"

namespace holdfast::conformance {

/// The outputs of one step: [layer], each [T, Cell::output_width()].
using StepOutputs = std::vector<std::vector<float>>;

/// A committed token and where its outputs are.
struct PlayedToken {
  TokenAt token;
  std::shared_ptr<const StepOutputs> outputs;
  int64_t at = 0; // in T
};

/// What the model knows of a row.
struct PlayedRow {
  RowId id;
  std::vector<PlayedToken> tokens;
  std::vector<size_t> phases; // [layer]
  std::vector<std::vector<bool>> released; // [layer][block]

  int64_t size() const {
    return std::ssize(tokens);
  }
  std::vector<int32_t> ids() const;
  std::vector<TokenAt> text() const;
  std::vector<BidirectionalSpan> spans() const;
  /// A prefix of so many tokens would end within a span.
  bool cut_at(int64_t length) const;
};

/// A row's part of a step.
struct Draft {
  RowId row;
  size_t index = 0; // in its side
  std::vector<int32_t> tokens;
  std::vector<BidirectionalSpan> spans; // one at most
};

class Rig {
 public:
  Rig(const Codec& codec, int64_t round);

  /// Plays a script from the start. With a text of the state's layers where it
  /// throws.
  void play(const std::vector<Operation>& script);
  /// Plays a script on forks of a row that is longer than a split of the reads,
  /// which they share.
  void play_forks(const std::vector<Operation>& script);
  /// Runs of splits that several rows read together in play_forks(), in all
  /// layers that kernels of ours read.
  int64_t shared() const {
    return shared_;
  }
  /// The same of pieces that rows of the latent layer share, and whether its
  /// window lets them.
  int64_t shared_latent() const {
    return shared_latent_;
  }
  bool latent_sees_all() const;
  /// Steps that were replayed from the graph of another.
  int64_t replayed() const {
    return replayed_;
  }
  /// Tokens that went through steps, in all.
  int64_t played() const {
    return played_;
  }

 private:
  struct Side {
    State state;
    std::vector<PlayedRow> rows; // in order
  };
  struct Kept {
    Snapshot snapshot;
    PlayedRow row;
  };

  void guarded(const std::function<void()>& play);
  void run_all(const std::vector<Operation>& script);
  void run(const Operation& operation);
  void clear();
  /// A row of so many tokens.
  void add_trunk(Side& side, int64_t length);
  void count_shared(Side& side, const std::vector<Draft>& drafts);
  Side& other(const Side& side) {
    return sides_[&side == &sides_[0] ? 1 : 0];
  }
  bool full() const;

  void add(Side& side);
  void append(Side& side, const Operation& operation);
  void speculate(Side& side, const Operation& operation);
  void roll_back(Side& side, const Operation& operation);
  void fork(Side& side, const Operation& operation);
  void trim(Side& side, const Operation& operation);
  void cancel(Side& side, const Operation& operation);
  void reorder(Side& side, const Operation& operation);
  void filter(Side& side, const Operation& operation);
  void extract(Side& side, const Operation& operation);
  void merge(Side& side, const Operation& operation);
  void take(Side& side, const Operation& operation);
  void snapshot(Side& side, const Operation& operation);
  void adopt(Side& side, const Operation& operation);
  void replay(Side& side, const Operation& operation);

  std::vector<Draft>
  drafts(const Side& side, const Operation& operation, int64_t most);
  std::vector<size_t> chosen(const Side& side, const Operation& operation);
  Step begin(Side& side, const std::vector<Draft>& drafts);
  /// The outputs of the first `layers` layers.
  std::shared_ptr<const StepOutputs>
  attend(Step& step, const std::vector<Draft>& drafts, size_t layers);
  /// Of all layers, from the graph of an earlier step of as many tokens.
  std::shared_ptr<const StepOutputs>
  attend_again(Step& step, const std::vector<Draft>& drafts);
  /// Lazily, as a function of the tokens.
  std::vector<mlx::core::array>
  outputs(Step& step, const std::vector<int32_t>& ids, size_t layers) const;
  /// The counts as they can be committed: those that cut a span are refused.
  std::vector<int64_t> allowed(
      Side& side,
      Step& step,
      const std::vector<Draft>& drafts,
      std::vector<int64_t> accepted);
  void
  end(Side& side,
      Step step,
      const std::vector<Draft>& drafts,
      const std::vector<int64_t>& accepted);
  void commit(
      Side& side,
      Step step,
      const std::vector<Draft>& drafts,
      const std::vector<int64_t>& accepted,
      const std::shared_ptr<const StepOutputs>& outputs);
  const LayerGroups& groups() const {
    return alone_.groups();
  }
  void settle(PlayedRow& row) const;
  /// What the layer's state keeps: its own rule, or its donor's.
  Visibility kept_by(size_t layer) const;
  /// A block behind a layer's window stays.
  bool stays(size_t layer, int64_t block) const;
  int64_t room_of(
      const PlayedRow& row,
      const std::vector<BidirectionalSpan>& spans) const;
  void add_span(const PlayedRow& row, Draft& draft, uint32_t random) const;
  int64_t floor_of(const PlayedRow& row) const;
  /// A trim may leave that length: its next query finds what it sees.
  bool may_leave(const PlayedRow& row, int64_t length) const;

  void check(const Side& side) const;
  void check_bytes();
  void check_reads(const PlayedRow& row, size_t count);
  void check_stored(const Side& side, const PlayedRow& row, size_t layer);
  void check_images(Side& side, const PlayedRow& row, size_t layer);
  void check_inputs(Side& side, const PlayedRow& row, size_t layer);
  /// The outputs of these tokens in a row of `alone_` that goes on from `row`.
  void check_alone(RowId row, const PlayedRow& played, int64_t from);
  void finish();
  void check_alone(const PlayedRow& row, const std::optional<RowId>& trunk);

  std::vector<Cell> cells_;
  int64_t keep_every_ = 0; // of the recurrent layer
  std::vector<Truth> truths_; // [layer]; of the recurrent one its place alone
  RecurrentTruth recurrent_;
  /// [layer]: queries, keys and values of each token id, or inputs.
  std::vector<std::vector<mlx::core::array>> tables_;
  std::array<Side, 2> sides_;
  State alone_;
  std::vector<Kept> kept_;
  uint64_t ticks_ = 0; // of the script: what is drawn follows from it
  int64_t played_ = 0;
  int64_t longest_ = 0; // positions of a row
  std::optional<PlayedRow> trunk_; // which forks go on from
  int64_t shared_ = 0;
  int64_t shared_latent_ = 0;
  std::unordered_map<int64_t, StepGraph> graphs_; // by tokens
  int64_t replayed_ = 0;
};

/// [queries, keys, values] or [inputs] of the layer, each [kVocabulary, ...].
std::vector<mlx::core::array>
tables_of(const Truth& truth, const RecurrentTruth& recurrent);

/// Throws std::runtime_error.
void require(bool condition, const std::string& text);

} // namespace holdfast::conformance
