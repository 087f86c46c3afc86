// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Uses holdfast::core alone, as a program outside this repository does.

#include <cstdio>

#include "holdfast/env/cpu.h"
#include "holdfast/env/executor.h"

int main() {
  holdfast::Executor executor(2);
  std::atomic<int64_t> sum{0};
  executor.for_each(10, [&](int64_t item, int /*worker*/) { sum += item; });
  std::printf("%s\n", holdfast::name(holdfast::best_kernel_path()));
  return sum == 45 ? 0 : 1;
}
