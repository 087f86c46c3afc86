// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Linear jobs run on every path, team and split of their rows.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernel_paths.h"
#include "tests/kernels/linear_support.h"

namespace holdfast::cpu::test {

using Floats = std::vector<float>;

inline std::vector<KernelPath> paths() {
  return holdfast::test::paths_here();
}

inline Floats
run(LinearJob job, int64_t n, Executor& executor, KernelPath path) {
  Floats y(static_cast<size_t>(job.m * n), NAN);
  job.y = y.data();
  linear(job, executor, path);
  return y;
}

inline void
expect_same_bits(const Floats& a, const Floats& b, const char* what) {
  ASSERT_EQ(a.size(), b.size());
  ASSERT_EQ(0, std::memcmp(a.data(), b.data(), a.size() * sizeof(float)))
      << what;
}

/// The job's rows at every split of m, on every path and team, have one set of
/// bits: those returned.
inline Floats same_bits_everywhere(LinearJob job, int64_t n) {
  Executor one(1), two(2), three(3);
  const Floats all = run(job, n, two, best_kernel_path());
  for (KernelPath path : paths()) {
    expect_same_bits(run(job, n, one, path), all, name(path));
  }
  expect_same_bits(run(job, n, three, best_kernel_path()), all, "3 threads");
  const int64_t k = job.weights[0]->k();
  int64_t columns = 0;
  for (const Weight* weight : job.weights) {
    columns += weight->n();
  }
  Floats parts;
  for (int64_t row = 0, step = 1; row < job.m; row += step, step = 7) {
    LinearJob part = job;
    part.m = std::min(step, job.m - row);
    part.x += row * k;
    if (part.residual != nullptr) {
      part.residual += row * n;
    }
    if (part.added != nullptr) {
      part.added += row * columns;
    }
    const Floats y = run(part, n, two, best_kernel_path());
    parts.insert(parts.end(), y.begin(), y.end());
  }
  expect_same_bits(parts, all, "split rows");
  return all;
}

} // namespace holdfast::cpu::test
