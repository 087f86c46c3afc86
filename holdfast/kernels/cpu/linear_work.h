// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A linear job in pieces: rows to prepare, then items of products that any
// worker may do in any order, each with what stands behind them. Who does what,
// and when, is the caller's: linear.cpp and linear_batch.cpp.
//
// Threads: cut() first; then any number at once, each with its own buffers.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "holdfast/kernels/cpu/linear.h"
#include "holdfast/kernels/cpu/linear_kernels.h"

namespace holdfast::cpu {

constexpr int64_t kItemsPerWorker = 4; // so that none waits long at the end
constexpr int64_t kPrepareTiles = 2; // row tiles that are prepared at once

/// A job's rows as the kernels take them; null: no weight takes them so.
struct Activations {
  uint16_t* a = nullptr;
  float* f32 = nullptr;
};

/// Buffers of one worker, and how many values each has.
struct WorkBuffers {
  uint16_t* slab = nullptr; // [kSlabValues]
  float* sums = nullptr;
  float* row = nullptr;
};
struct WorkSizes {
  int64_t sums = 0;
  int64_t row = 0;

  /// What serves both.
  void widen(const WorkSizes& other) {
    sums = std::max(sums, other.sums);
    row = std::max(row, other.row);
  }
};

class LinearWork {
 public:
  /// `job` outlives it. `rows`: row m of the job is row rows[m] of x; null: m.
  LinearWork(
      const LinearJob& job,
      const LinearKernels& kernels,
      const int64_t* rows = nullptr);

  /// Panels of all products, counted once for each block of rows.
  int64_t panels() const {
    return panels_ * blocks_;
  }
  /// Into items of about so many panels, as far as the form allows.
  void cut(int64_t panels);
  int64_t items() const {
    return static_cast<int64_t>(groups_.size()) * blocks_;
  }
  /// One row tile, one pass over the weights.
  bool streams() const {
    return streams_;
  }
  int64_t rows() const {
    return shape_.rows;
  }
  int64_t row_tiles() const {
    return shape_.row_tiles;
  }

  /// Values of `a` and of `f32`; 0 where they stay null.
  int64_t tile_values() const;
  int64_t row_values() const;
  WorkSizes sizes() const;

  void prepare(
      int64_t first_tile,
      int64_t tiles,
      const Activations& activations,
      const WorkBuffers& buffers) const;
  void multiply(
      int64_t item,
      const Activations& activations,
      const WorkBuffers& buffers) const;
  /// The norm behind whole rows of y, once all of their items are done.
  void post(int64_t first_row, int64_t rows) const;

 private:
  /// Panels [first, first + count) of a weight (gated: of both), and their
  /// place in y.
  struct Group {
    const Weight* weight;
    int64_t first;
    int64_t count;
    int64_t column;
    float scale;
  };

  float scale_of(size_t weight) const;
  void product(const Weight& weight, int64_t panel, ProductArgs args) const;
  void finish(
      const Group& group,
      int64_t first_tile,
      const float* sums,
      const float* gated) const;

  const LinearJob& job_;
  const LinearKernels& kernels_;
  const int64_t* rows_;
  const bool gated_;
  const bool streams_;
  bool needs_f32_ = false;
  bool needs_tiles_ = false;
  int64_t width_ = 0; // of y
  int64_t panels_ = 0; // of the products: gated, of one of both
  int64_t blocks_ = 0; // of rows
  int64_t block_tiles_ = 1; // row tiles of an item
  int64_t group_panels_ = 1; // of the largest group
  ActivationShape shape_;
  std::vector<Group> groups_;
};

} // namespace holdfast::cpu
