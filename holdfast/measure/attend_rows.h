// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Rows of one layer with random state, to measure attention with: scattered
// blocks that hold what the codecs make of normal vectors, and copies of them,
// used in turn, so that they come from memory. One thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "holdfast/block/layout.h"
#include "holdfast/codec/codec.h"
#include "holdfast/env/cpu.h"
#include "holdfast/env/executor.h"
#include "holdfast/plan/layer_spec.h"
#include "holdfast/plan/step_plan.h"

namespace holdfast::measure {

struct AttendShape {
  const Codec* keys = nullptr;
  const Codec* values = nullptr;
  int64_t query_heads = 1;
  int64_t kv_heads = 1;
  int64_t dim = 0;
  int64_t window = 0; // 0: none

  AttentionSpec spec() const;
};

/// How many rows, and how many of their leading blocks are the same.
struct AttendBatch {
  int64_t rows = 1;
  int64_t positions = 0; // of each
  int64_t shared = 0;
};

/// What computes.
struct AttendMachine {
  Executor* team = nullptr;
  KernelPath path;
};

/// Rows of one layer, their blocks in random order in memory.
class AttendRows {
 public:
  /// With the content of `like`, where there is such a batch already. Throws
  /// kOutOfBudget where the system has no such memory.
  AttendRows(
      const AttendShape& shape,
      const AttendBatch& batch,
      const AttendRows* like = nullptr);

  /// `count` tokens of each row from `start` on. Throws kUnsupported where no
  /// kernel covers the shape.
  void attend(int64_t start, int64_t count, const AttendMachine& machine);

  /// Each once.
  const std::vector<std::byte*>& images() const {
    return images_;
  }
  int64_t image_bytes() const {
    return layout_.bytes().get();
  }

 private:
  std::vector<std::byte> make_patterns() const;

  AttendShape shape_;
  ImageLayout layout_;
  AttentionSpec spec_;
  std::shared_ptr<std::byte> memory_;
  std::shared_ptr<const std::vector<std::byte>> patterns_;
  std::vector<std::byte*> images_;
  std::vector<RowBlocks> blocks_;
  std::vector<float> q_, k_, v_, out_;
};

/// Copies of such rows that together exceed what caches keep.
class AttendCopies {
 public:
  AttendCopies(const AttendShape& shape, const AttendBatch& batch);

  const AttendBatch& batch() const {
    return batch_;
  }
  /// Copies that are used in a turn, and the bytes of one.
  int64_t turn() const {
    return turn_;
  }
  int64_t bytes() const {
    return bytes_;
  }
  /// f(copy) for each of the next turn's copies.
  template <class F>
  void take_turn(F f) {
    for (int64_t i = 0; i < turn_; ++i) {
      f(*copies_[next_++ % copies_.size()]);
    }
  }

 private:
  AttendBatch batch_;
  std::vector<std::unique_ptr<AttendRows>> copies_;
  int64_t bytes_ = 0;
  int64_t turn_ = 0;
  size_t next_ = 0;
};

} // namespace holdfast::measure
