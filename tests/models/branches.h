// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Three texts that part behind a trunk longer than a split of the reads, what a
// row alone computes of each, and rows that come to the same positions in other
// ways: whatever they compute is compared with that, bit for bit. Differences
// are failures of the running test. One thread.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/models/codec_choices.h"

namespace holdfast::test {

/// A split of four blocks, which three rows or more read together, one block
/// more, and a tail that forks copy.
inline constexpr int64_t kTrunk = 330;
/// Of those that change their precision, each branch by itself.
inline constexpr int64_t kBranchStart = 340;
inline constexpr int64_t kEnd = 352;
inline constexpr size_t kBranches = 3;

/// What a row appends: tokens of its text, which it keeps, and others.
struct Part {
  int64_t right = 0;
  int64_t wrong = 0;
};
struct Round {
  std::array<Part, kBranches> parts; // [branch]
  bool commits = true;
};

class Branches {
 public:
  explicit Branches(const Choice& choice);

  /// False where the codec fits no layer of the family: nothing to run then.
  bool placed() const {
    return placed_;
  }
  /// One row, the whole of each text at once, each in a state of its own: what
  /// the rest is compared with.
  void run_cold();
  /// A row in chunks up to `end`, alone. Its name.
  RowId run_chunks(size_t branch, int64_t chunk, int64_t end);
  /// A row between a longer and a shorter neighbour.
  void run_beside_neighbours(size_t branch);
  RowId fork(RowId row) {
    return state_->fork_row(row);
  }
  void remove(RowId row) {
    state_->remove_row(row);
  }
  /// Rows of each text, `rounds` over and over until all are at their ends.
  void run_branches(
      const Model& model,
      const std::vector<RowId>& rows,
      std::span<const Round> rounds);
  /// The rest of a text, a token a step.
  void run_to_end(const Model& model, RowId row, size_t branch);

  const Model& model() const {
    return model_;
  }
  /// Whether a layer of the family sees the whole text.
  bool sees_all() const;
  /// Of the last run: its steps; those of all branches in one precision; and
  /// how many of these read together what the rows share.
  int64_t steps() const {
    return steps_;
  }
  int64_t alike_steps() const {
    return alike_steps_;
  }
  int64_t shared_steps() const {
    return shared_steps_;
  }

 private:
  struct Draft {
    RowId row;
    size_t branch = 0;
    int64_t from = 0;
    Part part;
  };
  const Model& model_;
  StateOptions options_;
  bool placed_ = false;
  std::optional<State> state_;
  std::array<std::vector<int32_t>, kBranches> texts_;
  std::array<std::vector<float>, kBranches> cold_; // [position][vocab]
  int64_t steps_ = 0;
  int64_t alike_steps_ = 0;
  int64_t shared_steps_ = 0;

  int64_t vocab() const {
    return model_.config().vocab;
  }
  std::vector<int32_t> tokens_of(const Draft& draft) const;
  void expect_cold(const Draft& draft, std::span<const float> logits) const;
  std::vector<Draft>
  drafts(const std::vector<RowId>& rows, const Round& round) const;
  void step(const Model& model, const std::vector<Draft>& all, bool commits);
  /// Reads of all layers that several rows of the step just committed shared.
  int64_t shared_reads(const std::vector<Draft>& all);
};

} // namespace holdfast::test
