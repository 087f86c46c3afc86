// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Fetches what a thread will read soon into the second cache, a few lines at a
// time between products: while the scores of a split are made its values come,
// while its values are summed the next split's keys. Include it in a kernel's
// .cpp file alone.

#pragma once

#include <cstddef>
#include <cstdint>

#include "holdfast/kernels/cpu/attend_kernels.h"

namespace holdfast::cpu {
namespace {

class Fetch {
 public:
  void add(const std::byte* plane, int64_t bytes) {
    planes_[count_++] = {plane, bytes};
    lines_ += (bytes + 63) / 64;
  }
  /// Spreads the lines over `parts` calls of step().
  void spread(int64_t parts) {
    a_step_ = parts > 0 ? (lines_ + parts - 1) / parts : lines_;
  }
  void step() {
    for (int64_t i = 0; i < a_step_ && at_ < count_; ++i) {
      __builtin_prefetch(planes_[at_].start + offset_, 0, 2);
      offset_ += 64;
      if (offset_ >= planes_[at_].bytes) {
        offset_ = 0;
        ++at_;
      }
    }
  }

 private:
  struct Plane {
    const std::byte* start;
    int64_t bytes;
  };
  Plane planes_[2 * kSplitBlocks];
  int64_t count_ = 0;
  int64_t lines_ = 0;
  int64_t a_step_ = 0;
  int64_t at_ = 0;
  int64_t offset_ = 0;
};

} // namespace
} // namespace holdfast::cpu
