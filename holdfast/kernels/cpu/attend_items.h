// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Runs the items of one call's plan. Units that are shared out in parts keep a
// partial for each split of a round; whoever finishes a unit's last split of it
// folds them, in order. Other units are folded as they go. Units of several
// rows of the batch keep what they have, and each row's own unit starts from
// its part of it. The partials of a round take the place of the last one's.
//
// Threads: run() from any of the team's, once an item; begin() of each round
// before its items and after those of the round before.

#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "holdfast/kernels/cpu/attend_unit.h"

namespace holdfast::cpu {

class AttendItems {
 public:
  AttendItems(
      const AttendContext& context,
      const AttendPlan& plan,
      int threads);
  void begin(const AttendRound& round);
  void run(int64_t index);

 private:
  void keep_splits(int64_t unit);
  bool lasts(const AttendItem& item) const;
  void run_whole(const AttendItem& item, int64_t index);
  void run_part(const AttendItem& item, int64_t index);
  void run_splits(
      const AttendItem& item,
      int64_t index,
      int64_t i,
      const Partial* results);
  void fold(const AttendUnit& unit, const Partial& total, const Partial& part);
  void begin_total(const AttendUnit& unit, const Partial& total);
  void fold_kept(int64_t unit, int64_t row, int64_t rows, const Partial& into);
  void finish(int64_t unit, const Partial& total);
  FetchList to_fetch(const AttendItem& item, int64_t index, int64_t i) const;
  void add_ranges(FetchList& list, const AttendItem& item, int64_t i) const;
  std::span<const AttendQueries> queries_of(const AttendUnit& unit) const;
  void fold_round(int64_t unit);
  Partial partial(int64_t unit, int64_t i) const;
  Partial total_of(int64_t unit) const;
  int64_t floats_of(const AttendUnit& unit) const;

  const AttendContext& context_;
  const AttendPlan& plan_;
  const int threads_;
  /// [unit] partials that outlive its items: of the splits [first, first +
  /// count) in parts, those of its round; one of all splits, at `total`, where
  /// the unit is folded over several rounds or is whole and of several rows.
  struct Kept {
    int64_t first = 0;
    int64_t count = 0;
    int64_t offset = -1; // in floats
    int64_t total = -1;
  };
  std::vector<Kept> kept_;
  std::vector<std::atomic<int64_t>> left_; // [unit] splits to come in the round
  int64_t lasting_ = 0; // floats of what is kept for other rounds
  float* buffer_ = nullptr;
};

} // namespace holdfast::cpu
