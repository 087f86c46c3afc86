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
    if (runs_here(path)) {
      all.push_back(path);
    }
  }
  return all;
}

/// Whether the *_vec256.cpp files run here: by AVX2 or by NEON.
inline bool runs_vec256() {
  return runs_here(KernelPath::kAvx2) || runs_here(KernelPath::kNeon);
}

/// The vector paths of this kind of processor, for suites that skip what the
/// one at hand lacks.
inline std::vector<KernelPath> vector_paths() {
#if defined(__x86_64__)
  return {KernelPath::kAvx512, KernelPath::kAvx2};
#elif defined(__aarch64__)
  return {KernelPath::kNeon};
#else
  return {};
#endif
}

} // namespace holdfast::test
