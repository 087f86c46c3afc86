// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Tokens into neighbouring slots of a plane, by format: the bytes that the
// codec's encode() writes (tested). Include it in a kernel's .cpp file alone,
// after its Isa; attend-inl.h says what that is.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "holdfast/kernels/cpu/attend_kernels.h"

namespace holdfast::cpu {
namespace {

/// The longest vector of a dense codec.
constexpr int64_t kAppendMaxDim = 512;

/// [group of 16 tokens][dim][16 tokens].
inline void append_f32_keys(const AppendJob& job) {
  auto* plane = reinterpret_cast<float*>(job.plane);
  for (int64_t i = 0; i < job.count; ++i) {
    const int64_t t = job.slot + i;
    float* to = plane + t / 16 * job.dim * 16 + t % 16;
    for (int64_t d = 0; d < job.dim; ++d) {
      to[d * 16] = job.source[i * job.stride + d];
    }
  }
}

inline void append_f32_values(const AppendJob& job) {
  auto* plane = reinterpret_cast<float*>(job.plane);
  for (int64_t i = 0; i < job.count; ++i) {
    std::memcpy(
        plane + (job.slot + i) * job.dim,
        job.source + i * job.stride,
        static_cast<size_t>(job.dim) * sizeof(float));
  }
}

template <class Isa>
void append_f16_keys(const AppendJob& job) {
  alignas(64) uint16_t halves[16];
  auto* plane = reinterpret_cast<uint16_t*>(job.plane);
  for (int64_t i = 0; i < job.count; ++i) {
    const int64_t t = job.slot + i;
    uint16_t* to = plane + t / 16 * job.dim * 16 + t % 16;
    for (int64_t d = 0; d < job.dim; d += 16) {
      Isa::narrow_f16(Isa::V::load(job.source + i * job.stride + d), halves);
      for (int64_t j = 0; j < 16; ++j) {
        to[(d + j) * 16] = halves[j];
      }
    }
  }
}

template <class Isa>
void append_f16_values(const AppendJob& job) {
  auto* plane = reinterpret_cast<uint16_t*>(job.plane);
  for (int64_t i = 0; i < job.count; ++i) {
    for (int64_t d = 0; d < job.dim; d += 16) {
      Isa::narrow_f16(
          Isa::V::load(job.source + i * job.stride + d),
          plane + (job.slot + i) * job.dim + d);
    }
  }
}

/// [group of 16 tokens][step of 32 d][16 pairs][16 tokens][2]: a pair of
/// elements is one 32-bit store.
template <class Isa>
void append_bf16_keys(const AppendJob& job) {
  alignas(64) uint16_t step[32];
  const int64_t steps = (job.dim + 31) / 32;
  for (int64_t i = 0; i < job.count; ++i) {
    const int64_t t = job.slot + i;
    const float* from = job.source + i * job.stride;
    std::byte* to = job.plane + t / 16 * steps * 1024 + t % 16 * 4;
    for (int64_t k = 0; k < steps; ++k) {
      Isa::narrow_bf16(Isa::V::load(from + k * 32), step);
      if (k * 32 + 16 < job.dim) {
        Isa::narrow_bf16(Isa::V::load(from + k * 32 + 16), step + 16);
      } else {
        std::memset(step + 16, 0, 32);
      }
      for (int64_t p = 0; p < 16; ++p) {
        std::memcpy(to + k * 1024 + p * 64, step + 2 * p, 4);
      }
    }
  }
}

/// [step of 32 tokens][tile of 16 d][16 token pairs][16 d][2]: two tokens of a
/// pair go together, a single one beside what is there.
template <class Isa>
void append_bf16_values(const AppendJob& job) {
  alignas(64) uint16_t halves[2][kAppendMaxDim];
  for (int64_t i = 0; i < job.count;) {
    const int64_t t = job.slot + i;
    const int64_t tokens = t % 2 == 0 && i + 1 < job.count ? 2 : 1;
    for (int64_t j = 0; j < tokens; ++j) {
      const float* from = job.source + (i + j) * job.stride;
      for (int64_t d = 0; d < job.dim; d += 16) {
        Isa::narrow_bf16(Isa::V::load(from + d), halves[j] + d);
      }
    }
    auto* to = reinterpret_cast<uint16_t*>(job.plane) + t / 32 * job.dim * 32 +
        t % 32 / 2 * 32;
    for (int64_t d = 0; d < job.dim; d += 16) {
      uint16_t* line = to + d * 32;
      if (tokens == 2) {
        uint32_t pairs[16];
        for (int64_t n = 0; n < 16; ++n) {
          pairs[n] = halves[0][d + n] | uint32_t{halves[1][d + n]} << 16;
        }
        std::memcpy(line, pairs, 64);
      } else {
        for (int64_t n = 0; n < 16; ++n) {
          line[2 * n + t % 2] = halves[0][d + n];
        }
      }
    }
    i += tokens;
  }
}

} // namespace
} // namespace holdfast::cpu
