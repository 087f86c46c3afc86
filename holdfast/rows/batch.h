// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Who is in the batch, in which order. A RowId stays valid until its row is
// removed and is never given out again. Refused calls change nothing.
// Not thread safe.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "holdfast/base/strong.h"
#include "holdfast/rows/bidirectional.h"

namespace holdfast {

/// A row's name. Slots are reused; a generation is given out once a process, so
/// that a name means nothing in a batch that the row is not in.
struct RowId {
  uint32_t slot = 0;
  uint64_t generation = 0; // of a row: >= 1

  bool operator==(const RowId&) const = default;
};

/// As messages name a row.
std::string text(RowId row);

/// Throws kInvalidArgument for a row named twice. `where` opens the text.
void require_distinct(std::span<const RowId> rows, const char* where);

/// How many positions a step appends to a row, and the bidirectional spans
/// among them: whole ones, in order.
struct RowAppend {
  RowId row;
  int64_t count = 0;
  std::vector<BidirectionalSpan> spans = {};
};

class Batch {
 public:
  /// A new row, last in order.
  RowId add();
  /// Room for so many more: adding these throws nothing.
  void reserve(size_t more);
  /// Throws kNotFound for a row that is not here.
  void remove(RowId row);
  /// `order` names every row once; throws kInvalidArgument otherwise, kNotFound
  /// for a row that is not here.
  void reorder(std::span<const RowId> order);

  bool contains(RowId row) const;
  /// The row's place in order. Throws kNotFound.
  RowIndex index_of(RowId row) const;
  std::span<const RowId> order() const {
    return order_;
  }
  int64_t size() const {
    return static_cast<int64_t>(order_.size());
  }

  /// Throws kNotFound for a row that is not here, kInvalidArgument for one
  /// named twice. `where` opens the text.
  void require_distinct(std::span<const RowId> rows, const char* where) const;
  /// The same for a step, which also needs a row, and counts of at least 1.
  void require_appendable(std::span<const RowAppend> appends) const;

 private:
  std::vector<RowId> order_;
  std::vector<uint64_t> generations_; // [slot], of its row; 0: free
  std::vector<uint32_t> free_slots_;
};

} // namespace holdfast
