// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/measure/machine_rate.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/measure/seconds.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace holdfast::measure {

namespace {

// What the loops find goes here, so that nothing is left out.
std::atomic<uint64_t> found{0};

// Of an item's loop: a third of a millisecond or so, as 4 products of tiles a
// round take 64 cycles, 12 multiply-adds in vectors 6, the plain loop 8 to 24.
constexpr int kTileRounds = 20000;
constexpr int kRounds = 200000;
constexpr int kItems = 16; // of a thread: the last to finish waits little

#if defined(__x86_64__)
/// Adds up memory in whole lines, fetching 2 KiB ahead.
__attribute__((target("avx512f"))) uint64_t
read_wide(const std::byte* from, int64_t bytes) {
  __m512i sum[4] = {};
  for (int64_t i = 0; i + 256 <= bytes; i += 256) {
    for (int j = 0; j < 4; ++j) {
      _mm_prefetch(from + i + 64 * j + 2048, _MM_HINT_T0);
      sum[j] = _mm512_add_epi64(sum[j], _mm512_loadu_si512(from + i + 64 * j));
    }
  }
  alignas(64) uint64_t words[4][8];
  uint64_t total = 0;
  for (int j = 0; j < 4; ++j) {
    _mm512_store_si512(words[j], sum[j]);
    total += words[j][0];
  }
  return total;
}

/// FLOP of a call.
int64_t multiply_tiles() {
  struct alignas(64) {
    uint8_t palette = 1;
    uint8_t zero[15] = {};
    uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } config;
  asm volatile("ldtilecfg %0" : : "m"(config));
  for (int i = 0; i < kTileRounds; ++i) {
    asm volatile(
        "tdpbf16ps %tmm6, %tmm4, %tmm0\n\ttdpbf16ps %tmm7, %tmm4, %tmm1\n\t"
        "tdpbf16ps %tmm6, %tmm5, %tmm2\n\ttdpbf16ps %tmm7, %tmm5, %tmm3");
  }
  asm volatile("tilerelease");
  return int64_t{4} * kTileRounds * 2 * 16 * 16 * 32;
}

/// Likewise; twelve chains hide the latency of two units.
__attribute__((target("avx512f"))) int64_t multiply_wide() {
  constexpr int kChains = 12;
  __m512 sum[kChains];
  for (int j = 0; j < kChains; ++j) {
    sum[j] =
        _mm512_set1_ps(static_cast<float>(j)); // no chain is another's copy
  }
  __m512 x = _mm512_set1_ps(1.25f);
  for (int i = 0; i < kRounds; ++i) {
    asm volatile("" : "+v"(x)); // each round's products are its own
#pragma GCC unroll 12
    for (int j = 0; j < kChains; ++j) {
      sum[j] = _mm512_fmadd_ps(x, x, sum[j]);
    }
  }
  float total = 0.0f;
  for (int j = 0; j < kChains; ++j) {
    total += _mm512_cvtss_f32(sum[j]);
  }
  found += total > 0.0f ? 1 : 0;
  return int64_t{kRounds} * kChains * 2 * 16;
}

/// Likewise, in half the width.
__attribute__((target("avx2,fma"))) int64_t multiply_avx2() {
  constexpr int kChains = 12;
  __m256 sum[kChains];
  for (int j = 0; j < kChains; ++j) {
    sum[j] =
        _mm256_set1_ps(static_cast<float>(j)); // no chain is another's copy
  }
  __m256 x = _mm256_set1_ps(1.25f);
  for (int i = 0; i < kRounds; ++i) {
    asm volatile("" : "+x"(x)); // each round's products are its own
#pragma GCC unroll 12
    for (int j = 0; j < kChains; ++j) {
      sum[j] = _mm256_fmadd_ps(x, x, sum[j]);
    }
  }
  float total = 0.0f;
  for (int j = 0; j < kChains; ++j) {
    total += _mm256_cvtss_f32(sum[j]);
  }
  found += total > 0.0f ? 1 : 0;
  return int64_t{kRounds} * kChains * 2 * 8;
}

bool has_wide() {
  return best_kernel_path() <= KernelPath::kAvx512;
}
#else
uint64_t read_wide(const std::byte*, int64_t) {
  return 0;
}
int64_t multiply_tiles() {
  return 0;
}
int64_t multiply_wide() {
  return 0;
}
int64_t multiply_avx2() {
  return 0;
}
bool has_wide() {
  return false;
}
#endif

#if defined(__aarch64__)
/// Likewise; four units have a latency of four.
int64_t multiply_neon() {
  constexpr int kChains = 24;
  float32x4_t sum[kChains];
  for (int j = 0; j < kChains; ++j) {
    sum[j] = vdupq_n_f32(static_cast<float>(j)); // no chain is another's copy
  }
  float32x4_t x = vdupq_n_f32(1.25f);
  for (int i = 0; i < kRounds; ++i) {
    asm volatile("" : "+w"(x)); // each round's products are its own
#pragma GCC unroll 24
    for (int j = 0; j < kChains; ++j) {
      sum[j] = vfmaq_f32(sum[j], x, x);
    }
  }
  float total = 0.0f;
  for (int j = 0; j < kChains; ++j) {
    total += vgetq_lane_f32(sum[j], 0);
  }
  found += total > 0.0f ? 1 : 0;
  return int64_t{kRounds} * kChains * 2 * 4;
}
#else
int64_t multiply_neon() {
  return 0;
}
#endif

uint64_t read_words(const std::byte* from, int64_t bytes) {
  uint64_t sum = 0;
  for (int64_t i = 0; i + 8 <= bytes; i += 8) {
    uint64_t word;
    std::memcpy(&word, from + i, 8);
    sum += word;
  }
  return sum;
}

int64_t multiply_plain() {
  constexpr int kLanes = 32;
  volatile float source = 1.25f;
  const float x = source;
  float sum[kLanes] = {};
  for (int i = 0; i < kRounds; ++i) {
    const float y = source; // so that a round is not the one before
    for (int j = 0; j < kLanes; ++j) {
      sum[j] += x * y + sum[j];
    }
  }
  float total = 0.0f;
  for (const float part : sum) {
    total += part;
  }
  found += total > 0.0f ? 1 : 0;
  return int64_t{kRounds} * kLanes * 3;
}

} // namespace

void read_pieces(
    std::span<std::byte* const> pieces,
    int64_t bytes,
    Executor& team) {
  constexpr int64_t kTaken = 8; // by a thread at a time
  const auto count = static_cast<int64_t>(pieces.size());
  const bool wide = has_wide();
  team.for_each(ceil_div(count, kTaken), [&](int64_t i, int) {
    uint64_t sum = 0;
    for (int64_t j = i * kTaken; j < std::min(count, (i + 1) * kTaken); ++j) {
      sum += wide ? read_wide(pieces[j], bytes) : read_words(pieces[j], bytes);
    }
    found += sum;
  });
}

double register_rate(KernelPath path, Executor& team) {
  expect(
      runs_here(path),
      "[register_rate] expected a path of this processor, got another",
      ErrorCode::kUnsupported);
  std::atomic<int64_t> done{0};
  const auto multiply = [&](int64_t, int) {
    done += path == KernelPath::kAmx  ? multiply_tiles()
        : path == KernelPath::kAvx512 ? multiply_wide()
        : path == KernelPath::kAvx2   ? multiply_avx2()
        : path == KernelPath::kNeon   ? multiply_neon()
                                      : multiply_plain();
  };
  // Threads that sleep need longer to wake than an item takes.
  team.run([&](int worker) { multiply(0, worker); });
  done = 0;
  const double start = seconds();
  team.for_each(int64_t{kItems} * team.threads(), multiply);
  return static_cast<double>(done.load()) / (seconds() - start);
}

} // namespace holdfast::measure
