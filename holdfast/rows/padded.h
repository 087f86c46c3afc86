// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Padded input at the border: engines that feed [B, L] arrays (padding left,
// right or both) meet rows, which are ragged. Prepare, feed columns, finalize:
//
//   PaddedInput input({{row, left, length}, ...}, width);
//   while (!input.finished()) {
//     input.open(columns);                           // of the [B, L] input
//     for (auto piece = input.piece(fit); !piece.appends.empty();
//          piece = input.piece(fit)) {               // a step each
//       ... gather the tokens, run and commit a step, keep its output ...
//       input.advance(piece);
//     }
//   }
//   input.finalize();
//
// Only tokens reach a step: padding takes no position, no block, and moves no
// threshold. A row keeps its own columns, so that rows may leave, come and
// change their order between pieces. Refused calls change nothing. A value; not
// thread safe.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "holdfast/rows/batch.h"

namespace holdfast {

/// Tokens of one step, out of the open columns [B, columns].
struct PaddedPiece {
  /// Rows that have tokens, in order, with the bidirectional spans among these.
  std::vector<RowAppend> appends;
  /// [T]: of each token in the order of the step, its place in the flattened
  /// [B, columns].
  std::vector<int32_t> places;
  /// B and columns of what was open.
  int64_t batch = 0;
  int64_t columns = 0;
};

class PaddedInput {
 public:
  /// A row of the input: the columns [left, left + length) hold its tokens, at
  /// the positions from `first` on.
  struct Row {
    RowId row;
    int64_t left = 0;
    int64_t length = 0;
    /// Whole ones, of these positions, in order.
    std::vector<BidirectionalSpan> spans = {};
    Position first{0};
  };
  /// How many of at most `wanted` >= 1 tokens a row takes next, given its spans
  /// to come, as State::fit_append says; 0: none yet.
  using Fit = std::function<
      int64_t(RowId row, int64_t wanted, BidirectionalSpans to_come)>;

  /// rows: in the order of the input's first axis. Throws kInvalidArgument
  /// where a row is named twice or does not fit the width, spans not the row,
  /// or width or positions not kMaxPositions.
  PaddedInput(std::span<const Row> rows, int64_t width);

  /// B.
  int64_t size() const {
    return static_cast<int64_t>(rows_.size());
  }
  std::vector<RowId> order() const;
  /// The column behind a row's last token, counted from the first of its
  /// input. Throws kNotFound.
  int64_t valid_end(RowId row) const;
  /// Tokens of the row that were fed. Throws kNotFound.
  int64_t fed(RowId row) const;
  /// Nothing is left to feed: rows that end early do not wait for the width.
  bool finished() const;

  /// The next `columns` columns of every row are here. Throws kInvalidArgument
  /// while tokens of the last ones are left, for less than 1, for more places
  /// in [B, columns] than kMaxPositions, where they cut a row's span, and after
  /// finalize.
  void open(int64_t columns);
  /// The fewest columns, `least` or more, that may be opened next: they cut no
  /// span. Throws kInvalidArgument for more than kMaxPositions.
  int64_t fit_columns(int64_t least) const;
  /// Open columns, 0 before the first open().
  int64_t columns() const {
    return columns_;
  }
  /// B of the open columns, in which rows that have left keep their places.
  int64_t batch() const {
    return batch_;
  }
  /// What the next step takes of the open columns: of each row as many tokens
  /// as fit() says. Empty where they are used up. Throws kInvalidArgument where
  /// that is more than there are, or cuts a span.
  PaddedPiece piece(const Fit& fit) const;
  /// Says that a piece was committed. Throws kInvalidArgument unless it is the
  /// next of each of its rows, in the places that these have.
  void advance(const PaddedPiece& piece);
  /// Ends the input. Throws kInvalidArgument where tokens are left to feed. A
  /// second call, and one where nothing was padded, do nothing more.
  void finalize();

  // Between pieces, with the same meaning as the verbs of Chains. While columns
  // are open, rows that are left keep their places in [B, columns].

  /// False where it is gone already.
  bool remove(RowId row);
  void filter(std::span<const RowId> keep);
  void reorder(std::span<const RowId> order);
  /// What is known of these rows, under new names; this stays as it is.
  PaddedInput
  extract(std::span<const RowId> rows, std::span<const RowId> names) const;
  /// Adds the rows of another input behind these, under new names. Where one of
  /// the two has tokens left in its open columns, these stay open, with their
  /// places; where both have, the columns are as many (kInvalidArgument
  /// otherwise), and the other's array [B, columns] comes behind this one's.
  void merge(const PaddedInput& other, std::span<const RowId> names);

 private:
  struct Entry {
    RowId row;
    int64_t left = 0;
    int64_t length = 0;
    std::vector<BidirectionalSpan> spans;
    Position first;
    int64_t passed = 0; // columns behind the open ones
    int64_t fed = 0;
    int64_t place = 0; // in [B, columns]
  };
  PaddedInput() = default;
  const Entry& at(RowId row) const;
  /// Tokens of a row in the open columns that were not fed.
  int64_t pending(const Entry& entry) const;
  /// Adds the row's next `count` tokens to a piece. Throws kInvalidArgument
  /// where that is more than are pending, or cuts a span. `where` opens the
  /// text.
  void
  take(PaddedPiece& piece, const Entry& entry, int64_t count, const char* where)
      const;
  /// The span that the columns after the open ones cut at their end, or null.
  const BidirectionalSpan*
  cut_behind(const Entry& entry, int64_t columns) const;
  bool any_pending() const;
  std::vector<Entry>
  chosen(std::span<const RowId> rows, const char* where) const;

  std::vector<Entry> rows_;
  int64_t columns_ = 0;
  int64_t batch_ = 0; // of the open columns
  bool final_ = false;
};

} // namespace holdfast
