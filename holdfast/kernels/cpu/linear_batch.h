// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Linear jobs that the team does together: it prepares the rows of all, then
// takes the products of all as one list of items. So a hundred small jobs, such
// as a layer's experts, wait for one another twice and not twice each, and
// however few panels one has, all workers are busy.
//
// Bits are linear()'s, job for job. Threads: called on one thread; works on the
// executor's team.

#pragma once

#include <cstdint>
#include <vector>

#include "holdfast/env/executor.h"
#include "holdfast/kernels/cpu/linear_scratch.h"
#include "holdfast/kernels/cpu/linear_work.h"

namespace holdfast::cpu {

class LinearBatch {
 public:
  /// For a team of this many.
  LinearBatch(const LinearKernels& kernels, int threads)
      : kernels_(kernels), threads_(threads) {}

  /// A job of few rows, 2048 at most, that check_job() takes, not exact and
  /// without a norm behind it; it outlives the batch. `rows`: as LinearWork's.
  void add(const LinearJob& job, const int64_t* rows = nullptr);
  /// Once all jobs are added. Buffers of several batches that run one after the
  /// other may be one: the widest sizes, the most values.
  void cut();
  WorkSizes sizes() const;
  /// Where its prepared rows lie: values it needs, then their memory.
  int64_t tile_values() const {
    return tile_values_;
  }
  int64_t row_values() const {
    return row_values_;
  }
  void place(const Activations& activations);

  /// workers: one a thread of the executor.
  void run(const std::vector<WorkBuffers>& workers, Executor& executor) const;

 private:
  /// Item `at` of a job; of its preparation: the first row tile.
  struct Item {
    size_t job;
    int64_t at;
  };

  const LinearKernels& kernels_;
  const int threads_;
  int64_t total_rows_ = 0;
  int64_t tile_values_ = 0;
  int64_t row_values_ = 0;
  std::vector<LinearWork> works_;
  std::vector<Activations> activations_; // [job]
  std::vector<Item> prepared_;
  std::vector<Item> products_;
};

} // namespace holdfast::cpu
