// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/rows/padded.h"

#include <algorithm>
#include <string>

#include "holdfast/base/check.h"
#include "holdfast/rows/chain.h"

namespace holdfast {

namespace {

constexpr int64_t kMost = kMaxPositions.get();

// Places in [batch, columns] are 32-bit numbers.
void require_places(int64_t batch, int64_t columns, const char* where) {
  if (columns > kMost || batch > kMost / std::max<int64_t>(columns, 1)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        std::string(where) + " expected at most " + std::to_string(kMost) +
            " places, got " + std::to_string(batch) + " rows of " +
            std::to_string(columns) + " columns");
  }
}

void require_spans(const PaddedInput::Row& row) {
  const Position end = row.first + Position(row.length);
  if (const auto* span = misplaced_span(row.spans, row.first, end)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[padded] expected bidirectional spans whole and in order within the "
        "positions " +
            std::to_string(row.first.get()) + " to " +
            std::to_string(end.get()) + ", got [" +
            std::to_string(span->begin.get()) + ", " +
            std::to_string(span->end.get()) + ")");
  }
}

} // namespace

PaddedInput::PaddedInput(std::span<const Row> rows, int64_t width) {
  expect(
      width >= 0 && width <= kMost,
      "[padded] expected a width of 0 to kMaxPositions, got another");
  std::vector<RowId> names;
  for (const Row& row : rows) {
    if (row.left < 0 || row.length < 0 || row.left > width ||
        row.length > width - row.left) {
      throw Error(
          ErrorCode::kInvalidArgument,
          "[padded] expected padding and tokens within " +
              std::to_string(width) + " columns, got " +
              std::to_string(row.left) + " and " + std::to_string(row.length));
    }
    expect(
        row.first >= Position(0) &&
            row.first <= kMaxPositions - Position(row.length),
        "[padded] expected positions from 0 to kMaxPositions, got others");
    require_spans(row);
    names.push_back(row.row);
    rows_.push_back(
        {.row = row.row,
         .left = row.left,
         .length = row.length,
         .spans = row.spans,
         .first = row.first,
         .place = std::ssize(rows_)});
  }
  require_distinct(names, "[padded]");
}

std::vector<RowId> PaddedInput::order() const {
  std::vector<RowId> result;
  for (const Entry& entry : rows_) {
    result.push_back(entry.row);
  }
  return result;
}

const PaddedInput::Entry& PaddedInput::at(RowId row) const {
  const auto found =
      std::find_if(rows_.begin(), rows_.end(), [&](const Entry& entry) {
        return entry.row == row;
      });
  if (found == rows_.end()) {
    throw Error(
        ErrorCode::kNotFound,
        "[padded] expected a row of this input, got " + text(row));
  }
  return *found;
}

int64_t PaddedInput::valid_end(RowId row) const {
  const Entry& entry = at(row);
  return entry.left + entry.length;
}

int64_t PaddedInput::fed(RowId row) const {
  return at(row).fed;
}

bool PaddedInput::finished() const {
  return std::all_of(rows_.begin(), rows_.end(), [](const Entry& entry) {
    return entry.fed == entry.length;
  });
}

int64_t PaddedInput::pending(const Entry& entry) const {
  const int64_t end = std::clamp<int64_t>(
      entry.passed + columns_ - entry.left, 0, entry.length);
  return end - std::min(end, entry.fed);
}

bool PaddedInput::any_pending() const {
  return std::any_of(rows_.begin(), rows_.end(), [&](const Entry& entry) {
    return pending(entry) > 0;
  });
}

const BidirectionalSpan*
PaddedInput::cut_behind(const Entry& entry, int64_t columns) const {
  const int64_t end = std::clamp<int64_t>(
      entry.passed + columns_ + columns - entry.left, 0, entry.length);
  return span_cut_at(entry.spans, entry.first + Position(end));
}

int64_t PaddedInput::fit_columns(int64_t least) const {
  require_places(1, least, "[padded.fit_columns]");
  int64_t columns = std::max<int64_t>(least, 1);
  for (bool cut = true; cut;) {
    cut = false;
    for (const Entry& entry : rows_) {
      if (const BidirectionalSpan* span = cut_behind(entry, columns)) {
        columns = entry.left + (span->end - entry.first).get() - entry.passed -
            columns_;
        cut = true;
      }
    }
  }
  return columns;
}

void PaddedInput::open(int64_t columns) {
  expect(!final_, "[padded.open] expected an input that goes on, got an ended");
  expect(columns >= 1, "[padded.open] expected at least one column, got none");
  expect(
      !any_pending(),
      "[padded.open] expected the open columns to be fed, got tokens left");
  require_places(size(), columns, "[padded.open]");
  if (fit_columns(columns) != columns) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[padded.open] expected columns that cut no bidirectional span, such "
        "as " +
            std::to_string(fit_columns(columns)) + ", got " +
            std::to_string(columns));
  }
  for (size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].passed += columns_;
    rows_[i].place = static_cast<int64_t>(i);
  }
  columns_ = columns;
  batch_ = size();
}

void PaddedInput::take(
    PaddedPiece& piece,
    const Entry& entry,
    int64_t count,
    const char* where) const {
  const Position from = entry.first + Position(entry.fed);
  if (count < 1 || count > pending(entry) ||
      span_cut_at(entry.spans, from + Position(count)) != nullptr) {
    throw Error(
        ErrorCode::kInvalidArgument,
        std::string(where) +
            " expected tokens of the open columns that cut no bidirectional "
            "span, got others");
  }
  piece.appends.push_back(
      {entry.row,
       count,
       spans_from(entry.spans, from, from + Position(count))});
  const int64_t first =
      entry.place * columns_ + entry.left + entry.fed - entry.passed;
  for (int64_t i = 0; i < count; ++i) {
    piece.places.push_back(static_cast<int32_t>(first + i));
  }
}

PaddedPiece PaddedInput::piece(const Fit& fit) const {
  PaddedPiece piece{
      .appends = {}, .places = {}, .batch = batch_, .columns = columns_};
  for (const Entry& entry : rows_) {
    const int64_t wanted = pending(entry);
    const Position from = entry.first + Position(entry.fed);
    const auto to_come = std::find_if(
        entry.spans.begin(), entry.spans.end(), [&](const auto& span) {
          return span.begin >= from;
        });
    const int64_t count =
        wanted > 0 ? fit(entry.row, wanted, {to_come, entry.spans.end()}) : 0;
    if (count >= 1) {
      take(piece, entry, count, "[padded.piece]");
    }
  }
  return piece;
}

void PaddedInput::advance(const PaddedPiece& piece) {
  std::vector<RowId> rows;
  PaddedPiece next;
  for (const RowAppend& append : piece.appends) {
    rows.push_back(append.row);
    take(next, at(append.row), append.count, "[padded.advance]");
  }
  require_distinct(rows, "[padded.advance]");
  expect(
      next.places == piece.places,
      "[padded.advance] expected the next tokens of the open columns, got "
      "others");
  for (Entry& entry : rows_) {
    for (const RowAppend& append : piece.appends) {
      entry.fed += append.row == entry.row ? append.count : 0;
    }
  }
}

void PaddedInput::finalize() {
  expect(
      finished(),
      "[padded.finalize] expected every row fed to its valid end, got tokens "
      "left");
  final_ = true;
}

std::vector<PaddedInput::Entry>
PaddedInput::chosen(std::span<const RowId> rows, const char* where) const {
  require_distinct(rows, where);
  std::vector<Entry> result;
  for (const RowId row : rows) {
    result.push_back(at(row));
  }
  return result;
}

bool PaddedInput::remove(RowId row) {
  return std::erase_if(
             rows_, [&](const Entry& entry) { return entry.row == row; }) > 0;
}

void PaddedInput::filter(std::span<const RowId> keep) {
  rows_ = chosen(keep, "[padded.filter]");
}

void PaddedInput::reorder(std::span<const RowId> order) {
  std::vector<Entry> rows = chosen(order, "[padded.reorder]");
  expect(
      rows.size() == rows_.size(),
      "[padded.reorder] expected every row, got fewer");
  rows_ = std::move(rows);
}

PaddedInput PaddedInput::extract(
    std::span<const RowId> rows,
    std::span<const RowId> names) const {
  expect(
      rows.size() == names.size(),
      "[padded.extract] expected a name a row, got another number");
  require_distinct(names, "[padded.extract]");
  PaddedInput result;
  result.rows_ = chosen(rows, "[padded.extract]");
  for (size_t i = 0; i < names.size(); ++i) {
    result.rows_[i].row = names[i];
  }
  result.columns_ = columns_;
  result.batch_ = batch_;
  result.final_ = final_;
  return result;
}

void PaddedInput::merge(
    const PaddedInput& other,
    std::span<const RowId> names) {
  expect(
      names.size() == other.rows_.size(),
      "[padded.merge] expected a name a row, got another number");
  const bool here = any_pending();
  const bool there = other.any_pending();
  expect(
      !here || !there || columns_ == other.columns_,
      "[padded.merge] expected as many open columns where both have tokens "
      "left, got other numbers");
  std::vector<RowId> all = order();
  all.insert(all.end(), names.begin(), names.end());
  require_distinct(all, "[padded.merge]");
  std::vector<Entry> added = other.rows_;
  const int64_t opened = other.batch_;
  const int64_t theirs = other.columns_;
  const int64_t columns = there ? theirs : columns_;
  const int64_t batch = (here || !there ? batch_ : 0) + (there ? opened : 0);
  require_places(batch, columns, "[padded.merge]");
  // Columns that are not open any more are behind a row, others not yet.
  for (Entry& entry : rows_) {
    entry.passed += columns_ - columns;
  }
  for (size_t i = 0; i < added.size(); ++i) {
    added[i].row = names[i];
    added[i].passed += theirs - columns;
    added[i].place += here && there ? batch_ : 0;
  }
  rows_.insert(rows_.end(), added.begin(), added.end());
  columns_ = columns;
  batch_ = batch;
  final_ = final_ && finished();
}

} // namespace holdfast
