// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel paths of this processor, best first, for tests that compare them.

#pragma once

#include <vector>

#include "holdfast/env/cpu.h"

namespace holdfast::test {

inline std::vector<KernelPath> paths_here() {
  std::vector<KernelPath> all;
  for (const KernelPath path : kKernelPaths) {
    if (path >= best_kernel_path()) {
      all.push_back(path);
    }
  }
  return all;
}

} // namespace holdfast::test
