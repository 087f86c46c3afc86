// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/linear.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <vector>

#include "holdfast/base/bits.h"
#include "holdfast/kernels/cpu/linear_check.h"
#include "holdfast/kernels/cpu/linear_dispatch.h"
#include "holdfast/kernels/cpu/linear_exact.h"
#include "holdfast/kernels/cpu/linear_scratch.h"

namespace holdfast::cpu {

namespace {

constexpr int64_t kStreamRows = 16; // up to here one row tile, one pass
constexpr int64_t kPassRows = 2048; // bounds the scratch memory of a job
constexpr int64_t kMostBlockTiles = 32; // 512 rows share an expanded slab
constexpr int64_t kLeastBlockTiles = 16;
// A block of activations that fits in half of L2 stays there while its items,
// of few panels, take turns; for longer K it comes from L3 once an item.
constexpr int64_t kBlockValues = 512 * 1024;
constexpr int64_t kBlockPanels = 2;
constexpr int64_t kLongBlockPanels = 8;
constexpr int64_t kStreamPanels = kMaxPanels;
constexpr int64_t kItemsPerWorker =
    4; // so that no worker waits long at the end

/// Panels [first, first + count) of a weight (gated: of both), and their place
/// in y.
struct Group {
  const Weight* weight;
  int64_t first;
  int64_t count;
  int64_t column;
  float scale;
};

/// Buffers of one worker; a and f32: few rows, each worker prepares its own.
struct WorkerScratch {
  uint16_t* slab = nullptr;
  float* sums = nullptr;
  float* row = nullptr;
  uint16_t* a = nullptr;
  float* f32 = nullptr;
};

/// At most kPassRows rows of a job.
class Pass {
 public:
  Pass(const LinearJob& job, Executor& executor, const LinearKernels& kernels)
      : job_(job),
        executor_(executor),
        kernels_(kernels),
        gated_(job.gate != Gate::kNone),
        stream_(job.m <= kStreamRows) {
    for (const Weight* weight : job.weights) {
      const bool f32 = weight->format().kind == WeightFormat::Kind::kF32;
      needs_f32_ |= f32;
      needs_tiles_ |= !f32;
      width_ += weight->n();
    }
    if (gated_) {
      width_ /= 2;
    }
    shape_.rows = job.m;
    shape_.k = job.weights[0]->k();
    shape_.steps = ceil_div(shape_.k, int64_t{kStepK}); // of every format
    shape_.chunk_steps =
        shape_.steps % kMaxChunkSteps == 0 ? kMaxChunkSteps : kChunkSteps;
    shape_.tile_rows = std::min<int64_t>(job.m, 16);
    shape_.row_tiles = ceil_div(job.m, int64_t{16});
    block_tiles_ = std::clamp(
        kBlockValues / (16 * shape_.k), kLeastBlockTiles, kMostBlockTiles);
    make_groups();
    make_scratch();
  }

  void run() {
    stream_ ? run_stream() : run_blocks();
  }

 private:
  void make_groups() {
    int64_t panels = 0;
    const size_t weights = gated_ ? 1 : job_.weights.size();
    for (size_t i = 0; i < weights; ++i) {
      panels += job_.weights[i]->layout().panels;
    }
    const int64_t blocks = ceil_div(shape_.row_tiles, block_tiles_);
    const int64_t workers = executor_.threads();
    const int64_t block = block_tiles_ * 16 * shape_.k <= kBlockValues
        ? kBlockPanels
        : kLongBlockPanels;
    const int64_t most = (stream_ ? kStreamPanels : block) / (gated_ ? 2 : 1);
    group_panels_ = std::clamp<int64_t>(
        panels * blocks / (workers * kItemsPerWorker), 1, most);
    int64_t column = 0;
    for (size_t i = 0; i < weights; ++i) {
      const int64_t count = job_.weights[i]->layout().panels;
      for (int64_t first = 0; first < count; first += group_panels_) {
        groups_.push_back(
            {.weight = job_.weights[i],
             .first = first,
             .count = std::min(group_panels_, count - first),
             .column = column + first * kPanelColumns,
             .scale = scale_of(i)});
      }
      column += job_.weights[i]->n();
    }
  }

  void make_scratch() {
    const int64_t a =
        shape_.row_tiles * shape_.tile_rows * shape_.steps * kStepK;
    const int64_t f32 = shape_.rows * shape_.k;
    const int64_t tiles = std::min(shape_.row_tiles, block_tiles_);
    const int64_t sums =
        group_panels_ * (gated_ ? 2 : 1) * kPanelTiles * tiles * 256;
    workers_.resize(static_cast<size_t>(executor_.threads()));
    Scratch scratch;
    for (WorkerScratch& worker : workers_) {
      scratch.add(&worker.slab, kSlabValues);
      scratch.add(&worker.sums, sums);
      scratch.add(&worker.row, shape_.steps * kStepK);
      if (stream_ && needs_tiles_) {
        scratch.add(&worker.a, a);
      }
      if (stream_ && needs_f32_) {
        scratch.add(&worker.f32, f32);
      }
    }
    if (!stream_ && needs_tiles_) {
      scratch.add(&a_, a);
    }
    if (!stream_ && needs_f32_) {
      scratch.add(&f32_, f32);
    }
    scratch.allocate();
  }

  float scale_of(size_t weight) const {
    return job_.scales.empty() ? 1.0f : job_.scales[weight];
  }
  WorkerScratch& of(int worker) {
    return workers_.at(static_cast<size_t>(worker));
  }
  PrepareArgs prepare_args(WorkerScratch& worker) const {
    return {
        .x = job_.x,
        .norm = job_.norm.weight,
        .eps = job_.norm.eps,
        .shape = shape_,
        .row = worker.row};
  }

  /// Few rows: each worker prepares all of them for itself, which costs less
  /// than waiting for one another; the last to end does what needs whole rows.
  void run_stream() {
    const auto count = static_cast<int64_t>(groups_.size());
    std::atomic<int64_t> next{0};
    std::atomic<int64_t> done{0};
    executor_.run([&](int w) {
      WorkerScratch& worker = of(w);
      int64_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= count) {
        return;
      }
      PrepareArgs args = prepare_args(worker);
      args.tiles = 1;
      args.a = worker.a;
      args.f32 = worker.f32;
      kernels_.prepare(args);
      int64_t mine = 0;
      for (; i < count; i = next.fetch_add(1, std::memory_order_relaxed)) {
        multiply(groups_[static_cast<size_t>(i)], 0, worker);
        ++mine;
      }
      if (done.fetch_add(mine, std::memory_order_acq_rel) + mine == count) {
        post(0, shape_.rows);
      }
    });
  }

  void run_blocks() {
    constexpr int64_t kTiles = 2; // row tiles an item prepares
    executor_.for_each(
        ceil_div(shape_.row_tiles, kTiles), [&](int64_t item, int worker) {
          PrepareArgs args = prepare_args(of(worker));
          args.first_tile = item * kTiles;
          args.tiles = std::min(kTiles, shape_.row_tiles - args.first_tile);
          args.a = a_;
          args.f32 = f32_;
          kernels_.prepare(args);
        });
    const auto groups = static_cast<int64_t>(groups_.size());
    const int64_t blocks = ceil_div(shape_.row_tiles, block_tiles_);
    executor_.for_each(groups * blocks, [&](int64_t item, int worker) {
      multiply(
          groups_[static_cast<size_t>(item % groups)],
          item / groups * block_tiles_,
          of(worker));
    });
    if (job_.post_norm.weight != nullptr) {
      constexpr int64_t kRows = 16;
      executor_.for_each(ceil_div(shape_.rows, kRows), [&](int64_t item, int) {
        const int64_t first = item * kRows;
        post(first, std::min(kRows, shape_.rows - first));
      });
    }
  }

  /// One group's products and what follows them, for the block of row tiles
  /// from first_tile on.
  void multiply(const Group& group, int64_t first_tile, WorkerScratch& worker) {
    ProductArgs args{
        .shape = shape_,
        .a = stream_ ? worker.a : a_,
        .f32 = stream_ ? worker.f32 : f32_,
        .first_tile = first_tile,
        .tiles = std::min(block_tiles_, shape_.row_tiles - first_tile),
        .panels = group.count,
        .slab = worker.slab,
        .sums = worker.sums};
    product(*group.weight, group.first, args);
    const int64_t panel_sums = kPanelTiles * args.tiles * 256;
    float* gated = nullptr;
    if (gated_) {
      gated = worker.sums + group.count * panel_sums;
      args.sums = gated;
      product(*job_.weights[1], group.first, args);
    }
    finish(group, first_tile, worker.sums, gated);
  }

  void product(const Weight& weight, int64_t panel, ProductArgs args) {
    args.layout = weight.layout();
    args.weight = reinterpret_cast<const uint8_t*>(weight.data()) +
        panel * args.layout.panel_bytes;
    const ProductKernels& kernels = products_of(kernels_, weight.format());
    (stream_ ? kernels.stream : kernels.block)(args);
  }

  void finish(
      const Group& group,
      int64_t first_tile,
      const float* sums,
      const float* gated) {
    float factors[kMaxPanels], gated_factors[kMaxPanels];
    for (int64_t p = 0; p < group.count; ++p) {
      factors[p] = group.scale * factor(*group.weight, group.first + p);
      if (gated_) {
        gated_factors[p] =
            scale_of(1) * factor(*job_.weights[1], group.first + p);
      }
    }
    const int64_t first_row = first_tile * 16;
    const int64_t at = first_row * width_ + group.column;
    const bool post = job_.post_norm.weight != nullptr;
    const int64_t added_stride = gated_ ? 2 * width_ : width_;
    const float* added = job_.added == nullptr
        ? nullptr
        : job_.added + first_row * added_stride + group.column;
    kernels_.finish(
        {.sums = sums,
         .factors = factors,
         .gated_sums = gated,
         .gated_factors = gated_factors,
         .bias = job_.bias == nullptr ? nullptr : job_.bias + group.column,
         .gated_bias = job_.bias == nullptr || !gated_
             ? nullptr
             : job_.bias + width_ + group.column,
         .added = added,
         .gated_added = added == nullptr || !gated_ ? nullptr : added + width_,
         .added_stride = added_stride,
         .gate = static_cast<int>(job_.gate), // 0 to 3
         .tiles = std::min(block_tiles_, shape_.row_tiles - first_tile),
         .rows = std::min(block_tiles_ * 16, shape_.rows - first_row),
         .columns = std::min(
             group.count * kPanelColumns,
             group.weight->n() - group.first * kPanelColumns),
         .residual =
             job_.residual == nullptr || post ? nullptr : job_.residual + at,
         .y = job_.y + at,
         .stride = width_});
  }

  /// What undoes the powers of two in activations and weights.
  static float factor(const Weight& weight, int64_t panel) {
    switch (weight.format().kind) {
      case WeightFormat::Kind::kF32:
        return 1.0f;
      case WeightFormat::Kind::kBf16:
        return 1.0f / kActivationScale;
      case WeightFormat::Kind::kCodes:
        break;
    }
    int32_t exponent;
    std::memcpy(
        &exponent,
        weight.data() + panel * weight.layout().panel_bytes,
        sizeof exponent);
    return std::ldexp(0x1p112f / kActivationScale, exponent);
  }

  void post(int64_t first, int64_t rows) {
    if (job_.post_norm.weight == nullptr) {
      return;
    }
    const int64_t at = first * width_;
    kernels_.post(
        {.norm = job_.post_norm.weight,
         .eps = job_.post_norm.eps,
         .rows = rows,
         .width = width_,
         .residual = job_.residual == nullptr ? nullptr : job_.residual + at,
         .y = job_.y + at});
  }

  const LinearJob& job_;
  Executor& executor_;
  const LinearKernels& kernels_;
  const bool gated_;
  const bool stream_;
  bool needs_f32_ = false;
  bool needs_tiles_ = false;
  int64_t width_ = 0; // of y
  int64_t group_panels_ = 1;
  int64_t block_tiles_ = 1; // row tiles of an item
  ActivationShape shape_;
  std::vector<Group> groups_;
  std::vector<WorkerScratch> workers_;
  uint16_t* a_ = nullptr;
  float* f32_ = nullptr;
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
