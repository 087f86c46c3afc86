// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The latent kernels over a lane type, with make_latent<V>(). Include rules as
// for math-inl.h. Stateless; any thread.

#pragma once

#include "holdfast/kernels/cpu/latent_kernels.h"
#include "holdfast/kernels/cpu/math-inl.h"

namespace holdfast::cpu {
namespace {

constexpr int64_t kBlockSlots = 64;

/// Lanes of sum_i a_i b_i added to `sum`; dims are multiples of 16.
template <class V>
inline V add_products(const float* a, const float* b, int64_t dim, V sum) {
  for (int64_t i = 0; i < dim; i += kLanes) {
    sum = V::fma(V::load(a + i), V::load(b + i), sum);
  }
  return sum;
}

template <class V>
inline float exp_of(float x) {
  float lanes[kLanes];
  exp_nonpositive(V::set(x)).store(lanes);
  return lanes[0];
}

template <class V>
void latent_block(const LatentBlock& b) {
  float weights[kBlockSlots];
  float largest = 0.0f;
  for (int64_t j = b.first; j < b.end; ++j) {
    const V sum = add_products(
        b.q, b.latents + j * b.value_dim, b.value_dim, V::set(0.0f));
    const float score = b.scale *
        add_products(b.q + b.value_dim, b.keys + j * b.key_dim, b.key_dim, sum)
            .sum();
    weights[j] = score;
    largest = j == b.first || score > largest ? score : largest;
  }
  float sum = 0.0f;
  for (int64_t j = b.first; j < b.end; ++j) {
    weights[j] = exp_of<V>(weights[j] - largest);
    sum += weights[j];
  }
  const bool begun = *b.max > -__builtin_inff();
  const float max = begun && *b.max > largest ? *b.max : largest;
  const float old_factor = begun ? exp_of<V>(*b.max - max) : 0.0f;
  const float new_factor = exp_of<V>(largest - max);
  for (int64_t i = 0; i < b.value_dim; i += kLanes) {
    V part = V::set(0.0f);
    for (int64_t j = b.first; j < b.end; ++j) {
      part = V::fma(
          V::set(weights[j]), V::load(b.latents + j * b.value_dim + i), part);
    }
    part = part * V::set(new_factor);
    if (begun) {
      part = V::fma(V::load(b.out + i), V::set(old_factor), part);
    }
    part.store(b.out + i);
  }
  *b.sum = begun ? __builtin_fmaf(*b.sum, old_factor, sum * new_factor)
                 : sum * new_factor;
  *b.max = max;
}

template <class V>
void latent_finish(float* out, float sum, int64_t dim) {
  const V divisor = V::set(sum);
  for (int64_t i = 0; i < dim; i += kLanes) {
    (V::load(out + i) / divisor).store(out + i);
  }
}

template <class V>
constexpr LatentKernels make_latent() {
  return {.block = latent_block<V>, .finish = latent_finish<V>};
}

} // namespace
} // namespace holdfast::cpu
