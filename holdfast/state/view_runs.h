// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The arrays that live views have given out and nobody has evaluated yet, so
// that a change of a row makes those that read it stale. Private to state/.
// Engine thread only.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mlx/stream.h"

#include "holdfast/plan/step_run.h"
#include "holdfast/plan/viewed_row.h"

namespace holdfast {

class ViewRuns {
 public:
  /// An array's run, and what it reads.
  struct Entry {
    std::weak_ptr<StepRun> run; // gone with the array
    int64_t group = 0;
    std::vector<ViewedRow> rows;
  };
  void add(Entry entry);
  /// Some may still be evaluated, or are at work.
  bool any() const;
  /// Ends the runs of rows that are not what they were.
  void end_changed(const Chains& chains) noexcept;
  void end_all() noexcept;

 private:
  std::vector<Entry> entries_;
};

/// Stands around a change of a state's rows: what views have at work is done
/// before it, and what they have not begun is stale after it.
class RowsChange {
 public:
  RowsChange(ViewRuns& views, const Chains& chains, mlx::core::Stream stream);
  ~RowsChange();
  RowsChange(const RowsChange&) = delete;
  RowsChange& operator=(const RowsChange&) = delete;

 private:
  ViewRuns& views_;
  const Chains& chains_;
};

} // namespace holdfast
