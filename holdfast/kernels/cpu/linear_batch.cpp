// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/linear_batch.h"

#include "holdfast/base/check.h"

namespace holdfast::cpu {

namespace {

constexpr int64_t kFewRows = 16; // waking the team costs about as much

} // namespace

void LinearBatch::add(const LinearJob& job, const int64_t* rows) {
  works_.emplace_back(job, kernels_, rows);
  const LinearWork& work = works_.back();
  total_rows_ += work.rows();
  tile_values_ += work.tile_values();
  row_values_ += work.row_values();
}

void LinearBatch::cut() {
  int64_t panels = 0;
  for (const LinearWork& work : works_) {
    panels += work.panels();
  }
  for (size_t job = 0; job < works_.size(); ++job) {
    LinearWork& work = works_[job];
    work.cut(panels / (threads_ * kItemsPerWorker));
    for (int64_t tile = 0; tile < work.row_tiles(); tile += kPrepareTiles) {
      prepared_.push_back({job, tile});
    }
    for (int64_t item = 0; item < work.items(); ++item) {
      products_.push_back({job, item});
    }
  }
}

WorkSizes LinearBatch::sizes() const {
  WorkSizes widest;
  for (const LinearWork& work : works_) {
    widest.widen(work.sizes());
  }
  return widest;
}

void LinearBatch::place(const Activations& activations) {
  activations_.clear();
  Activations next = activations;
  for (const LinearWork& work : works_) {
    activations_.push_back(
        {.a = work.tile_values() > 0 ? next.a : nullptr,
         .f32 = work.row_values() > 0 ? next.f32 : nullptr});
    next.a += work.tile_values();
    next.f32 += work.row_values();
  }
}

void LinearBatch::run(
    const std::vector<WorkBuffers>& workers,
    Executor& executor) const {
  ensure(
      activations_.size() == works_.size() &&
          std::ssize(workers) == executor.threads(),
      "[LinearBatch] expected a place for each job's rows and buffers for each "
      "worker");
  const auto prepare = [&](const Item& item, int worker) {
    works_[item.job].prepare(
        item.at,
        kPrepareTiles,
        activations_[item.job],
        workers[static_cast<size_t>(worker)]);
  };
  if (total_rows_ <= kFewRows) {
    for (const Item& item : prepared_) {
      prepare(item, 0);
    }
  } else {
    executor.for_each(std::ssize(prepared_), [&](int64_t i, int worker) {
      prepare(prepared_[static_cast<size_t>(i)], worker);
    });
  }
  executor.for_each(std::ssize(products_), [&](int64_t i, int worker) {
    const Item& item = products_[static_cast<size_t>(i)];
    works_[item.job].multiply(
        item.at, activations_[item.job], workers[static_cast<size_t>(worker)]);
  });
}

} // namespace holdfast::cpu
