// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/linear.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "holdfast/base/bits.h"
#include "holdfast/kernels/cpu/linear_check.h"
#include "holdfast/kernels/cpu/linear_dispatch.h"
#include "holdfast/kernels/cpu/linear_exact.h"
#include "holdfast/kernels/cpu/linear_scratch.h"
#include "holdfast/kernels/cpu/linear_work.h"

namespace holdfast::cpu {

namespace {

constexpr int64_t kPassRows = 2048; // bounds the scratch memory of a job

/// Buffers of one worker; rows: where each prepares all of them for itself.
struct WorkerScratch {
  WorkBuffers buffers;
  Activations rows;
};

/// At most kPassRows rows of a job.
class Pass {
 public:
  Pass(const LinearJob& job, Executor& executor, const LinearKernels& kernels)
      : executor_(executor),
        work_(job, kernels),
        normed_(job.post_norm.weight) {
    work_.cut(work_.panels() / (executor.threads() * kItemsPerWorker));
    workers_.resize(static_cast<size_t>(executor.threads()));
    const WorkSizes sizes = work_.sizes();
    Scratch scratch;
    for (WorkerScratch& worker : workers_) {
      scratch.add(&worker.buffers.slab, kSlabValues);
      scratch.add(&worker.buffers.sums, sizes.sums);
      scratch.add(&worker.buffers.row, sizes.row);
      if (work_.streams()) {
        add_rows(scratch, worker.rows);
      }
    }
    if (!work_.streams()) {
      add_rows(scratch, rows_);
    }
    scratch.allocate();
  }

  void run() {
    work_.streams() ? run_stream() : run_blocks();
  }

 private:
  void add_rows(Scratch& scratch, Activations& rows) const {
    if (work_.tile_values() > 0) {
      scratch.add(&rows.a, work_.tile_values());
    }
    if (work_.row_values() > 0) {
      scratch.add(&rows.f32, work_.row_values());
    }
  }

  const WorkBuffers& of(int worker) const {
    return workers_.at(static_cast<size_t>(worker)).buffers;
  }

  /// Few rows: each worker prepares all of them for itself, which costs less
  /// than waiting for one another; the last to end does what needs whole rows.
  void run_stream() {
    const int64_t count = work_.items();
    std::atomic<int64_t> next{0};
    std::atomic<int64_t> done{0};
    executor_.run([&](int w) {
      int64_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= count) {
        return;
      }
      const WorkerScratch& worker = workers_.at(static_cast<size_t>(w));
      work_.prepare(0, 1, worker.rows, worker.buffers);
      int64_t mine = 0;
      for (; i < count; i = next.fetch_add(1, std::memory_order_relaxed)) {
        work_.multiply(i, worker.rows, worker.buffers);
        ++mine;
      }
      if (done.fetch_add(mine, std::memory_order_acq_rel) + mine == count) {
        work_.post(0, work_.rows());
      }
    });
  }

  void run_blocks() {
    executor_.for_each(
        ceil_div(work_.row_tiles(), kPrepareTiles),
        [&](int64_t item, int worker) {
          work_.prepare(item * kPrepareTiles, kPrepareTiles, rows_, of(worker));
        });
    executor_.for_each(work_.items(), [&](int64_t item, int worker) {
      work_.multiply(item, rows_, of(worker));
    });
    if (normed_) {
      constexpr int64_t kRows = 16;
      executor_.for_each(ceil_div(work_.rows(), kRows), [&](int64_t item, int) {
        const int64_t first = item * kRows;
        work_.post(first, std::min(kRows, work_.rows() - first));
      });
    }
  }

  Executor& executor_;
  LinearWork work_;
  const bool normed_; // its outputs are
  std::vector<WorkerScratch> workers_;
  Activations rows_; // of all workers
};

} // namespace

void linear(const LinearJob& job, Executor& executor, KernelPath path) {
  check_job(job);
  const LinearKernels& kernels = linear_kernels(path);
  if (job.weights[0]->format().exact) {
    linear_exact(job, executor, kernels.exact);
    return;
  }
  int64_t columns = 0;
  for (const Weight* weight : job.weights) {
    columns += weight->n();
  }
  const int64_t width = job.gate == Gate::kNone ? columns : columns / 2;
  for (int64_t row = 0; row < job.m; row += kPassRows) {
    LinearJob part = job;
    part.m = std::min(kPassRows, job.m - row);
    part.x = job.x + row * job.weights[0]->k();
    part.y = job.y + row * width;
    if (job.residual != nullptr) {
      part.residual = job.residual + row * width;
    }
    if (job.added != nullptr) {
      part.added = job.added + row * columns;
    }
    Pass(part, executor, kernels).run();
  }
}

} // namespace holdfast::cpu
