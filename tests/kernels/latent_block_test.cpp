// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/env/for_path.h"
#include "holdfast/kernels/cpu/latent_kernels.h"
#include "tests/kernel_paths.h"

namespace holdfast::cpu {
namespace {

constexpr int64_t kTokens = 64;

const LatentKernels& kernels_of(KernelPath path) {
  return for_path<
      latent_kernels_avx512,
      latent_kernels_avx512,
      latent_kernels_vec256,
      latent_kernels_plain>(path)();
}

struct Shape {
  int64_t value_dim;
  int64_t key_dim;
};

/// Three blocks under one query, the middle one cut at both ends.
std::vector<float> attended(KernelPath path, Shape shape) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  const auto values = [&](int64_t count) {
    std::vector<float> all(static_cast<size_t>(count));
    for (float& x : all) {
      x = normal(random);
    }
    return all;
  };
  const auto q = values(shape.value_dim + shape.key_dim);
  // The output, then its maximum and sum.
  std::vector<float> result(static_cast<size_t>(shape.value_dim) + 2, 0.0f);
  float* out = result.data();
  float* max = out + shape.value_dim;
  *max = -std::numeric_limits<float>::infinity();
  const LatentKernels& kernels = kernels_of(path);
  for (int block = 0; block < 3; ++block) {
    const auto latents = values(kTokens * shape.value_dim);
    const auto keys = values(kTokens * shape.key_dim);
    kernels.block({
        .q = q.data(),
        .latents = latents.data(),
        .keys = keys.data(),
        .value_dim = shape.value_dim,
        .key_dim = shape.key_dim,
        .first = block == 1 ? 5 : 0,
        .end = block == 1 ? 38 : kTokens,
        .scale = 0.125f,
        .out = out,
        .max = max,
        .sum = max + 1,
    });
  }
  kernels.finish(out, max[1], shape.value_dim);
  return result;
}

TEST(LatentBlock, GivesTheSameBitsOnEveryPath) {
  for (const Shape shape : {Shape{64, 16}, Shape{512, 64}}) {
    const auto plain = attended(KernelPath::kPlain, shape);
    ASSERT_GT(plain.back(), 0.0f);
    for (const KernelPath path : test::paths_here()) {
      const auto got = attended(path, shape);
      EXPECT_EQ(
          0,
          std::memcmp(plain.data(), got.data(), plain.size() * sizeof(float)))
          << name(path) << ", " << shape.value_dim;
    }
  }
}

} // namespace
} // namespace holdfast::cpu
