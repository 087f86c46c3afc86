// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The linear kernels over random weights that no cache holds, and the rate at
// which the same threads read memory. The best of several rounds counts,
// because neighbours on the machine only ever slow one down. One thread calls.

#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "holdfast/env/cpu.h"
#include "holdfast/env/executor.h"
#include "holdfast/kernels/cpu/linear.h"

namespace holdfast::measure {

struct LinearCase {
  const char* name;
  cpu::WeightFormat format;
};
/// One of each kind of stored weights.
std::span<const LinearCase> linear_cases();

struct LinearFigures {
  double one_row_bytes_s = 0; // of weights, for one row
  double many_rows_flops = 0; // for 512 rows
};
LinearFigures
linear_figures(const LinearCase& of, KernelPath path, Executor& executor);

/// Bytes a second that the team reads from memory.
class MemoryRate {
 public:
  explicit MemoryRate(Executor& executor);
  /// The best so far.
  double measure();

 private:
  Executor& executor_;
  const std::vector<char> bytes_;
  std::atomic<int> found_{0}; // so that nothing is left out
  double best_ = 0;
};

} // namespace holdfast::measure
