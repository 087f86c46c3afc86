// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a render may still do, so that a hostile template ends: steps (a node
// evaluated, an item visited), bytes made (texts and items, those thrown away
// too), and how deep evaluation nests. One render, one thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "holdfast/base/status.h"

namespace holdfast::jinja {

struct Limits {
  int64_t steps = 50'000'000;
  int64_t bytes = int64_t{256} << 20;
  /// Of evaluation; a level takes below 4 kB of stack.
  int depth = 800;
};

class Allowance {
 public:
  explicit Allowance(const Limits& limits) : left_(limits) {}

  /// Throw kOutOfBudget where nothing is left.
  void step(size_t count = 1) {
    take(left_.steps, count, "steps");
  }
  void make(size_t bytes) {
    take(left_.bytes, bytes, "bytes of texts and lists");
  }

  /// A level of evaluation, for as long as it lives.
  class Level {
   public:
    explicit Level(Allowance& allowance) : allowance_(allowance) {
      allowance_.take(allowance_.left_.depth, 1, "levels of evaluation");
    }
    ~Level() {
      ++allowance_.left_.depth;
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Allowance& allowance_;
  };

 private:
  template <class T>
  static void take(T& left, size_t count, const char* what) {
    if (static_cast<uint64_t>(count) > static_cast<uint64_t>(left))
        [[unlikely]] {
      throw Error(
          ErrorCode::kOutOfBudget,
          std::string("expected a template that ends within its ") + what +
              ", got one that needs more");
    }
    left = static_cast<T>(left - static_cast<T>(count));
  }

  Limits left_;
};

/// What an item of a list is counted as.
inline constexpr size_t kItemBytes = 32;

} // namespace holdfast::jinja
