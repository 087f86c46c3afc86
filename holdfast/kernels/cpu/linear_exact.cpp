// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/linear_exact.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <vector>

#include "holdfast/base/bits.h"
#include "holdfast/kernels/cpu/linear_scratch.h"

namespace holdfast::cpu {

namespace {

constexpr int64_t kPassRows = 512; // bounds the scratch memory of a job
constexpr int64_t kItemPanels = 8;
constexpr int64_t kItemsPerWorker = 4; // so that none waits long at the end

/// Buffers of up to kExactRows rows.
struct RowsScratch {
  ExactRows rows;
  float* row = nullptr; // of whoever prepares them

  void add_to(Scratch& scratch, int64_t steps) {
    scratch.add(&rows.numbers, steps * kExactStepBytes);
    scratch.add(&rows.scales, steps * kExactRows);
    scratch.add(&rows.sums, steps * kExactRows);
    scratch.add(&rows.zeros, steps * kExactRows);
    scratch.add(&row, steps * kStepK);
  }
};

/// At most kPassRows rows of a job.
class ExactPass {
 public:
  ExactPass(
      const LinearJob& job,
      Executor& executor,
      const ExactKernels& kernels)
      : job_(job),
        executor_(executor),
        kernels_(kernels),
        weight_(*job.weights[0]),
        layout_(weight_.layout()),
        item_panels_(std::clamp<int64_t>(
            layout_.panels / (executor.threads() * kItemsPerWorker),
            1,
            kItemPanels)),
        items_(ceil_div(layout_.panels, item_panels_)) {}

  void run() {
    job_.m <= kExactRows ? run_few() : run_many();
  }

 private:
  /// Each worker prepares the rows for itself, which costs less than waiting
  /// for one another.
  void run_few() {
    std::vector<RowsScratch> workers(static_cast<size_t>(executor_.threads()));
    allocate(workers);
    std::atomic<int64_t> next{0};
    executor_.run([&](int worker) {
      int64_t item = next.fetch_add(1, std::memory_order_relaxed);
      if (item >= items_) {
        return;
      }
      const RowsScratch& mine = workers[static_cast<size_t>(worker)];
      prepare(0, mine);
      for (; item < items_;
           item = next.fetch_add(1, std::memory_order_relaxed)) {
        multiply(item, {&mine, 1});
      }
    });
  }

  void run_many() {
    std::vector<RowsScratch> groups(
        static_cast<size_t>(ceil_div(job_.m, int64_t{kExactRows})));
    allocate(groups);
    executor_.for_each(
        static_cast<int64_t>(groups.size()), [&](int64_t group, int) {
          prepare(group * kExactRows, groups[static_cast<size_t>(group)]);
        });
    executor_.for_each(
        items_, [&](int64_t item, int) { multiply(item, groups); });
  }

  void allocate(std::vector<RowsScratch>& all) const {
    Scratch scratch;
    for (RowsScratch& rows : all) {
      rows.add_to(scratch, layout_.steps());
    }
    scratch.allocate();
  }

  int64_t rows_from(int64_t first) const {
    return std::min<int64_t>(kExactRows, job_.m - first);
  }

  void prepare(int64_t first, const RowsScratch& scratch) const {
    kernels_.prepare(
        {.x = job_.x + first * weight_.k(),
         .norm = job_.norm.weight,
         .eps = job_.norm.eps,
         .rows = rows_from(first),
         .steps = layout_.steps(),
         .row = scratch.row,
         .out = scratch.rows});
  }

  /// One item's panels with all rows, panel by panel: it stays in L2.
  void multiply(int64_t item, std::span<const RowsScratch> groups) const {
    const int64_t first = item * item_panels_;
    const int64_t end = std::min(first + item_panels_, layout_.panels);
    for (int64_t panel = first; panel < end; ++panel) {
      const std::byte* data = weight_.data() + panel * layout_.panel_bytes;
      int32_t exponent;
      std::memcpy(&exponent, data, sizeof exponent);
      const int64_t column = panel * kPanelColumns;
      for (size_t g = 0; g < groups.size(); ++g) {
        const auto row = static_cast<int64_t>(g) * kExactRows;
        const int64_t at = row * weight_.n() + column;
        kernels_.product[weight_.format().offsets ? 1 : 0](
            {.weight = reinterpret_cast<const uint8_t*>(data),
             .layout = layout_,
             .rows = rows_from(row),
             .steps = layout_.steps(),
             .a = groups[g].rows,
             .factor = std::ldexp(1.0f, exponent),
             .columns = std::min<int64_t>(kPanelColumns, weight_.n() - column),
             .residual =
                 job_.residual == nullptr ? nullptr : job_.residual + at,
             .y = job_.y + at,
             .stride = weight_.n()});
      }
    }
  }

  const LinearJob& job_;
  Executor& executor_;
  const ExactKernels& kernels_;
  const Weight& weight_;
  const WeightLayout layout_;
  const int64_t item_panels_;
  const int64_t items_;
};

} // namespace

void linear_exact(
    const LinearJob& job,
    Executor& executor,
    const ExactKernels& kernels) {
  const Weight& weight = *job.weights[0];
  for (int64_t row = 0; row < job.m; row += kPassRows) {
    LinearJob part = job;
    part.m = std::min(kPassRows, job.m - row);
    part.x = job.x + row * weight.k();
    part.y = job.y + row * weight.n();
    if (job.residual != nullptr) {
      part.residual = job.residual + row * weight.n();
    }
    ExactPass(part, executor, kernels).run();
  }
}

} // namespace holdfast::cpu
