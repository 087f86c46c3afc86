// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Runs the items of one call's plan. Units that are shared out in parts keep a
// partial for each split; whoever finishes a unit's last split folds them, in
// order. Other units are folded as they go.
//
// Threads: run() from any of the team's, once an item.

#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "holdfast/kernels/cpu/attend_unit.h"

namespace holdfast::cpu {

class AttendItems {
 public:
  AttendItems(
      const AttendContext& context,
      const AttendPlan& plan,
      int threads);
  void run(int64_t index);

 private:
  void run_whole(const AttendItem& item, int64_t index);
  void run_part(const AttendItem& item, int64_t index);
  void run_splits(
      const AttendItem& item,
      int64_t index,
      int64_t i,
      const Partial* results);
  FetchList to_fetch(const AttendItem& item, int64_t index, int64_t i) const;
  void add_ranges(FetchList& list, const AttendItem& item, int64_t i) const;
  Partial partial(int64_t unit, int64_t split) const;
  int64_t floats_of(const AttendUnit& unit) const;

  const AttendContext& context_;
  const AttendPlan& plan_;
  const int threads_;
  std::vector<int64_t> offsets_; // [unit], in floats; -1: not in parts
  std::vector<std::atomic<int64_t>> left_; // [unit] splits to come
  float* buffer_ = nullptr;
};

} // namespace holdfast::cpu
