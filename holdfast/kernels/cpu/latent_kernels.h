// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What the latent driver asks of an instruction set, the same for each path and
// equal in bits. Threads: any.

#pragma once

#include <cstdint>

namespace holdfast::cpu {

/// One query over what it sees of one decoded block; folds into its running
/// result.
struct LatentBlock {
  const float* q = nullptr; // [value_dim + key_dim]
  const float* latents = nullptr; // [64][value_dim]
  const float* keys = nullptr; // [64][key_dim]
  int64_t value_dim = 0;
  int64_t key_dim = 0;
  int64_t first = 0; // slots [first, end), not empty
  int64_t end = 0;
  float scale = 1.0f;
  float* out = nullptr; // [value_dim]: sum of weights * latents
  float* max = nullptr; // -infinity: nothing seen before
  float* sum = nullptr;
};

struct LatentKernels {
  void (*block)(const LatentBlock& block);
  /// out /= sum, [dim].
  void (*finish)(float* out, float sum, int64_t dim);
};

const LatentKernels& latent_kernels_plain();
/// Only where kAvx2 or kNeon runs.
const LatentKernels& latent_kernels_vec256();
/// Only where the processor is x86-64.
const LatentKernels& latent_kernels_avx512();

} // namespace holdfast::cpu
