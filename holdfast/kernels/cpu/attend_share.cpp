// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/attend_share.h"

#include <algorithm>
#include <utility>

#include "holdfast/base/bits.h"

namespace holdfast::cpu {

namespace {

// Reads of a split that a run saves at least; fewer do not pay its partials.
constexpr int64_t kLeastSaved = 2;

class Finder {
 public:
  Finder(
      const ShareSpec& spec,
      std::span<const RowSpan> rows,
      std::span<const RowBlocks> blocks)
      : spec_(spec), spans_(rows), images_(blocks), sees_(rows.size()) {}

  SharedRuns find() {
    const int64_t window = spec_.visibility.window;
    for (size_t r = 0; r < spans_.size(); ++r) {
      const RowSpan& span = spans_[r];
      Sees& sees = sees_[r];
      const int64_t last_query = span.start + span.count - 1;
      sees.blocks =
          visible_blocks(spec_.visibility, span, span.start, last_query);
      sees.splits = visible_splits(sees.blocks);
      // Written before this step, so full and the same for all. The split of
      // the last position stays the row's own, and a view whose window has left
      // all of them behind reads alone.
      const int64_t last = std::min(span.start, span.written() - 1);
      sees.splits.end =
          std::max(sees.splits.begin, last / (kSplitBlocks * kBlockTokens));
      if (2 * span.count * spec_.query_heads <= kUnitRows &&
          sees.splits.count() > 0 &&
          (window == 0 || last_query + 1 - window < span.written())) {
        found_.order.push_back(static_cast<int64_t>(r));
      }
    }
    // A run's first row sees what the others do: its window begins first.
    std::sort(
        found_.order.begin(), found_.order.end(), [&](int64_t a, int64_t b) {
          return std::pair(sees_[a].blocks.begin, a) <
              std::pair(sees_[b].blocks.begin, b);
        });
    divide({0, static_cast<int64_t>(found_.order.size())}, 0);
    return std::move(found_);
  }

 private:
  struct Sees {
    VisibleBlocks blocks;
    VisibleSplits splits; // that may be shared
  };
  struct Range { // of the order
    int64_t begin, end;
  };

  /// Both read the same in their i-th visible split, which is the same split.
  /// What lies before is known to be the same.
  bool alike(int64_t lead, int64_t row, int64_t i) const {
    const Sees& a = sees_[lead];
    const Sees& b = sees_[row];
    if (a.splits.sinks != b.splits.sinks || a.splits.begin != b.splits.begin ||
        i >= std::min(a.splits.count(), b.splits.count())) {
      return false;
    }
    const int64_t first = a.splits.at(i) * kSplitBlocks;
    for (int64_t block = first; block < first + kSplitBlocks; ++block) {
      if (b.blocks.has(block) &&
          (!a.blocks.has(block) ||
           images_[lead].images[block] != images_[row].images[block])) {
        return false;
      }
    }
    return true;
  }

  /// Rows that read the same before their i-th visible splits, from there on.
  void divide(Range rows, int64_t i) {
    const auto order = found_.order.begin();
    while (rows.begin < rows.end) {
      const int64_t lead = order[rows.begin];
      int64_t end = rows.begin + 1; // of those alike
      for (int64_t r = end; r < rows.end; ++r) {
        if (alike(lead, order[r], i)) {
          std::rotate(order + end, order + r, order + r + 1);
          ++end;
        }
      }
      while (rows.begin < end) {
        const Range unit{rows.begin, unit_end({rows.begin, end})};
        if (unit.end - unit.begin > 1) {
          add_run(unit, i);
        }
        rows.begin = unit.end;
      }
    }
  }

  /// As many rows as a unit takes.
  int64_t unit_end(Range rows) const {
    int64_t queries = 0;
    int64_t r = rows.begin;
    for (; r < rows.end; ++r) {
      queries += spans_[found_.order[r]].count * spec_.query_heads;
      if (queries > kUnitRows) {
        break;
      }
    }
    return r;
  }

  /// Rows that read the same up to their i-th visible split, that included.
  void add_run(Range rows, int64_t i) {
    const int64_t lead = found_.order[rows.begin];
    const auto all_alike = [&](int64_t at) {
      for (int64_t r = rows.begin + 1; r < rows.end; ++r) {
        if (!alike(lead, found_.order[r], at)) {
          return false;
        }
      }
      return true;
    };
    int64_t end = i + 1;
    while (all_alike(end)) {
      ++end;
    }
    const Sees& sees = sees_[lead];
    const int64_t count = rows.end - rows.begin;
    const int64_t last = sees.splits.at(end - 1) + 1;
    // After a run a row has a window alone left to see, without sinks.
    if (last * kSplitBlocks * kBlockTokens < spec_.visibility.sinks ||
        (count - 1) * (end - i) < kLeastSaved) {
      return;
    }
    SharedRun run{
        .first = rows.begin,
        .rows = count,
        .blocks = sees.blocks,
        .splits = sees.splits};
    if (i > 0) {
      run.blocks.sink_blocks = run.splits.sinks = 0;
      run.splits.begin = sees.splits.at(i);
    }
    run.splits.end = std::max(run.splits.begin, last);
    run.blocks.begin =
        std::max(run.blocks.begin, run.splits.begin * kSplitBlocks);
    run.blocks.end = std::max(run.blocks.begin, run.splits.end * kSplitBlocks);
    found_.runs.push_back(run);
    divide(rows, end);
  }

  const ShareSpec& spec_;
  std::span<const RowSpan> spans_;
  std::span<const RowBlocks> images_;
  std::vector<Sees> sees_; // [row]
  SharedRuns found_;
};

} // namespace

VisibleSplits visible_splits(const VisibleBlocks& blocks) {
  const int64_t begin = blocks.begin / kSplitBlocks;
  return {
      .sinks = std::min(ceil_div(blocks.sink_blocks, kSplitBlocks), begin),
      .begin = begin,
      .end = blocks.begin < blocks.end
          ? ceil_div(blocks.end, kSplitBlocks)
          : std::max(begin, ceil_div(blocks.sink_blocks, kSplitBlocks))};
}

SharedRuns find_shared(
    const ShareSpec& spec,
    std::span<const RowSpan> rows,
    std::span<const RowBlocks> blocks) {
  if (rows.size() < 2 || blocks.empty()) {
    return {};
  }
  return Finder(spec, rows, blocks).find();
}

} // namespace holdfast::cpu
