// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/rows/batch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/base/generation.h"

namespace holdfast {

std::string text(RowId row) {
  return std::to_string(row.slot) + "#" + std::to_string(row.generation);
}

void require_distinct(std::span<const RowId> rows, const char* where) {
  const auto key = [](const RowId& row) {
    return std::pair(row.slot, row.generation);
  };
  std::vector<RowId> sorted(rows.begin(), rows.end());
  std::ranges::sort(sorted, {}, key);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        std::string(where) + " expected each row once, got " + text(*twice) +
            " twice");
  }
}

void Batch::reserve(size_t more) {
  order_.reserve(order_.size() + more);
  generations_.reserve(generations_.size() + more);
  free_slots_.reserve(generations_.size() + more);
}

RowId Batch::add() {
  const bool reuse = !free_slots_.empty();
  const uint32_t slot =
      reuse ? free_slots_.back() : static_cast<uint32_t>(generations_.size());
  reserve(1); // what may throw comes first; free slots: for remove
  if (reuse) {
    free_slots_.pop_back();
  } else {
    generations_.push_back(0);
  }
  generations_[slot] = next_generation();
  order_.push_back({slot, generations_[slot]});
  return order_.back();
}

void Batch::remove(RowId row) {
  order_.erase(order_.begin() + index_of(row).get());
  generations_[row.slot] = 0;
  free_slots_.push_back(row.slot);
}

void Batch::reorder(std::span<const RowId> order) {
  require_distinct(order, "[batch.reorder]");
  if (order.size() != order_.size()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[batch.reorder] expected " + std::to_string(order_.size()) +
            " rows, got " + std::to_string(order.size()));
  }
  order_.assign(order.begin(), order.end());
}

bool Batch::contains(RowId row) const {
  return row.generation != 0 && row.slot < generations_.size() &&
      generations_[row.slot] == row.generation;
}

RowIndex Batch::index_of(RowId row) const {
  const auto place = std::find(order_.begin(), order_.end(), row);
  if (place == order_.end()) {
    throw Error(
        ErrorCode::kNotFound,
        "[batch] expected a row of this batch, got " + text(row));
  }
  return RowIndex(place - order_.begin());
}

void Batch::require_distinct(std::span<const RowId> rows, const char* where)
    const {
  for (const RowId row : rows) {
    if (!contains(row)) {
      throw Error(
          ErrorCode::kNotFound,
          std::string(where) + " expected rows of this batch, got " +
              text(row));
    }
  }
  if (rows.size() > 1) {
    holdfast::require_distinct(rows, where);
  }
}

void Batch::require_appendable(std::span<const RowAppend> appends) const {
  expect(!appends.empty(), "[step] expected at least one row, got none");
  std::vector<RowId> rows;
  for (const RowAppend& append : appends) {
    if (append.count < 1) {
      throw Error(
          ErrorCode::kInvalidArgument,
          "[step] expected at least 1 token for row " + text(append.row) +
              ", got " + std::to_string(append.count));
    }
    rows.push_back(append.row);
  }
  require_distinct(rows, "[step]");
}

} // namespace holdfast
