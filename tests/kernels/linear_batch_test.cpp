// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <numeric>

#include <gtest/gtest.h>

#include "holdfast/kernels/cpu/linear_batch.h"
#include "holdfast/kernels/cpu/linear_dispatch.h"
#include "tests/kernels/linear_runs.h"

namespace holdfast::cpu {
namespace {

using test::expect_same_bits;
using test::Floats;
using test::Kind;
using test::Source;

constexpr int64_t kK = 96;
const WeightFormat kF32{.kind = Kind::kF32};
const WeightFormat kBf16{.kind = Kind::kBf16};
const WeightFormat kCodes{
    .kind = Kind::kCodes,
    .bits = 4,
    .group = 32,
    .offsets = true};

/// Jobs of other formats, widths and numbers of rows, over rows of one x.
struct Jobs {
  Floats x = test::random_values(80 * kK, 1);
  std::vector<Weight> weights;
  std::vector<const Weight*> pointers;
  std::vector<Floats> outputs;
  std::vector<LinearJob> jobs;

  Jobs() {
    Executor executor(2);
    for (const auto& [format, n] :
         {std::pair(kF32, 70),
          std::pair(kBf16, 300),
          std::pair(kCodes, 64),
          std::pair(kCodes, 130)}) {
      const auto seed = static_cast<uint64_t>(n) + 2;
      weights.push_back(Source::random(format, n, kK, seed).pack(executor));
    }
    for (const Weight& weight : weights) {
      pointers.push_back(&weight);
    }
    for (const int64_t m : {1, 16, 17, 80}) {
      const size_t i = jobs.size();
      outputs.emplace_back(static_cast<size_t>(m * weights[i].n()), NAN);
      jobs.push_back({.x = x.data(), .m = m, .weights = {&pointers[i], 1}});
      jobs[i].y = outputs[i].data();
    }
  }

  /// All jobs together; rows[i]: of job i, or null.
  void
  run(const std::vector<const int64_t*>& rows,
      KernelPath path,
      Executor& executor) {
    LinearBatch batch(linear_kernels(path), executor.threads());
    for (size_t i = 0; i < jobs.size(); ++i) {
      batch.add(jobs[i], rows[i]);
    }
    batch.cut();
    std::vector<WorkBuffers> workers(static_cast<size_t>(executor.threads()));
    Activations activations;
    Scratch scratch;
    for (WorkBuffers& worker : workers) {
      scratch.add(&worker.slab, kSlabValues);
      scratch.add(&worker.sums, batch.sizes().sums);
      scratch.add(&worker.row, batch.sizes().row);
    }
    scratch.add(&activations.a, batch.tile_values());
    scratch.add(&activations.f32, batch.row_values());
    scratch.allocate();
    batch.place(activations);
    batch.run(workers, executor);
  }
};

TEST(LinearBatch, GivesEachJobTheBitsThatItHasAlone) {
  Jobs jobs;
  const std::vector<const int64_t*> in_order(jobs.jobs.size(), nullptr);
  for (const KernelPath path : test::paths()) {
    for (const int threads : {1, 3}) {
      Executor executor(threads);
      jobs.run(in_order, path, executor);
      for (size_t i = 0; i < jobs.jobs.size(); ++i) {
        const Floats alone =
            test::run(jobs.jobs[i], jobs.weights[i].n(), executor, path);
        expect_same_bits(jobs.outputs[i], alone, name(path));
      }
    }
  }
}

TEST(LinearBatch, TakesRowsFromWhereTheyLie) {
  Jobs jobs;
  std::vector<int64_t> backwards(80);
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  const std::vector<const int64_t*> rows(jobs.jobs.size(), backwards.data());
  Executor executor(2);
  jobs.run(rows, best_kernel_path(), executor);
  Floats turned;
  for (const int64_t row : backwards) {
    const float* from = jobs.x.data() + row * kK;
    turned.insert(turned.end(), from, from + kK);
  }
  for (size_t i = 0; i < jobs.jobs.size(); ++i) {
    LinearJob job = jobs.jobs[i];
    job.x = turned.data();
    const Floats alone =
        test::run(job, jobs.weights[i].n(), executor, best_kernel_path());
    expect_same_bits(jobs.outputs[i], alone, "gathered rows");
  }
}

} // namespace
} // namespace holdfast::cpu
