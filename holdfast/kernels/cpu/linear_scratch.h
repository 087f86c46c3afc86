// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The buffers of one job, cut from memory that the calling thread keeps for its
// next job. One Scratch a thread at a time: a second takes the first's memory.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "holdfast/base/bits.h"

namespace holdfast::cpu {

class Scratch {
 public:
  /// *pointer is set by allocate(), to `values` values on a page boundary.
  template <class T>
  void add(T** pointer, int64_t values) {
    wanted_.push_back({reinterpret_cast<void**>(pointer), size_});
    size_ += round_up(values * int64_t{sizeof(T)}, kPage);
  }
  void allocate();

 private:
  static constexpr int64_t kPage = 4096;
  struct Wanted {
    void** pointer;
    int64_t at;
  };
  std::vector<Wanted> wanted_;
  int64_t size_ = 0;
};

} // namespace holdfast::cpu
