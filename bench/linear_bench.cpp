// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Linear layers on random data. Few rows: bytes of packed weights per second,
// beside a loop that reads the same bytes, turn by turn; copies of the weight
// are used in turn, so that they come from memory. Many rows: floating-point
// operations per second and thread, packing of the activations included. The
// best of all turns is shown, because neighbours only ever slow one down.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "holdfast/env/cpu.h"
#include "holdfast/env/pages.h"
#include "holdfast/kernels/cpu/linear.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

using namespace holdfast;
using namespace holdfast::cpu;
using Kind = WeightFormat::Kind;

double seconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

/// -8: codes of 8 bits for exact products.
WeightFormat format_of(int64_t bits) {
  switch (bits) {
    case 32:
      return {.kind = Kind::kF32};
    case 16:
      return {.kind = Kind::kBf16};
    case 6:
      return {.kind = Kind::kCodes, .bits = 6, .group = 16};
    case 4:
      return {.kind = Kind::kCodes, .bits = 4, .group = 32, .offsets = true};
    default:
      return {
          .kind = Kind::kCodes,
          .bits = static_cast<int>(std::abs(bits)),
          .group = 32,
          .exact = bits < 0};
  }
}

struct Shape {
  int64_t n, k;
};

/// Rows repeat with an odd period, so that making them is quick and the packed
/// bits are still random.
Weight random_weight(const WeightFormat& format, Shape shape, Executor& team) {
  constexpr int64_t kPool = 1 << 20;
  static const std::vector<uint32_t> pool = [] {
    std::mt19937 random(1);
    std::vector<uint32_t> values(2 * kPool);
    std::generate(values.begin(), values.end(), random);
    return values;
  }();
  const auto at = [&](int64_t row) { return pool.data() + row * 7919 % kPool; };
  if (format.kind != Kind::kCodes) {
    return Weight::pack_values(
        format.kind,
        shape.n,
        shape.k,
        [&](int64_t row, float* out) {
          for (int64_t i = 0; i < shape.k; ++i) {
            out[i] =
                static_cast<float>(static_cast<int32_t>(at(row)[i])) * 0x1p-35f;
          }
        },
        team);
  }
  const Weight weight = Weight::pack_codes(
      format,
      shape.n,
      shape.k,
      [&](int64_t row, const CodeRow& out) {
        std::memcpy(out.codes, at(row), static_cast<size_t>(shape.k));
        for (int64_t g = 0; g < shape.k / format.group; ++g) {
          const auto r = static_cast<float>(at(row)[g] >> 16);
          out.scales[g] = (r + 9000.0f) * 0x1p-24f;
          if (format.offsets) {
            out.offsets[g] = -8.0f * out.scales[g];
          }
        }
      },
      team);
  return format.exact ? weight.exact() : weight;
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) uint64_t
read_bytes(const std::byte* from, int64_t bytes) {
  __m512i sum[4] = {};
  for (int64_t i = 0; i + 256 <= bytes; i += 256) {
    _mm_prefetch(from + i + 2048, _MM_HINT_T0);
    _mm_prefetch(from + i + 2112, _MM_HINT_T0);
    _mm_prefetch(from + i + 2176, _MM_HINT_T0);
    _mm_prefetch(from + i + 2240, _MM_HINT_T0);
    for (int j = 0; j < 4; ++j) {
      sum[j] = _mm512_xor_si512(sum[j], _mm512_loadu_si512(from + i + 64 * j));
    }
  }
  alignas(64) uint64_t words[8];
  _mm512_store_si512(
      words,
      _mm512_xor_si512(
          _mm512_xor_si512(sum[0], sum[1]), _mm512_xor_si512(sum[2], sum[3])));
  return words[0];
}
#else
uint64_t read_bytes(const std::byte* from, int64_t bytes) {
  uint64_t sum = 0;
  for (int64_t i = 0; i + 8 <= bytes; i += 8) {
    uint64_t word;
    std::memcpy(&word, from + i, 8);
    sum ^= word;
  }
  return sum;
}
#endif

void read_all(const Weight& weight, Executor& team) {
  constexpr int64_t kPiece = 1 << 17;
  const int64_t bytes = weight.bytes().get();
  team.for_each((bytes + kPiece - 1) / kPiece, [&](int64_t i, int) {
    benchmark::DoNotOptimize(read_bytes(
        weight.data() + i * kPiece, std::min(kPiece, bytes - i * kPiece)));
  });
}

/// As the engine's arrays: on a line's boundary, written once before use.
struct Floats {
  explicit Floats(int64_t count) : pages(allocate_pages(count * 4)) {}
  float* data() const {
    return reinterpret_cast<float*>(pages.get());
  }
  std::shared_ptr<std::byte> pages;
};

Floats random_floats(int64_t count) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  Floats values(count);
  std::generate_n(values.data(), count, [&] { return normal(random); });
  return values;
}

/// Arguments: bits, rows, threads, n, k, MiB of copies.
void few_rows(benchmark::State& state) {
  best_kernel_path(); // before threads
  const WeightFormat format = format_of(state.range(0));
  const int64_t m = state.range(1);
  Executor team(static_cast<int>(state.range(2)));
  const Shape shape{state.range(3), state.range(4)};
  std::vector<Weight> copies;
  int64_t bytes = 0;
  while (bytes < state.range(5) << 20) {
    copies.push_back(random_weight(format, shape, team));
    bytes += copies.back().bytes().get();
  }
  const auto x = random_floats(m * shape.k);
  const Floats y(m * shape.n);
  // A turn is long enough to measure and short enough to dodge a neighbour.
  const int64_t one = copies[0].bytes().get();
  const int64_t turn = std::max<int64_t>(1, (24 << 20) / one);
  double best = 1e9, best_read = 1e9;
  size_t next = 0;
  for (auto _ : state) {
    const double start = seconds();
    for (int64_t i = 0; i < turn; ++i) {
      const Weight* weights[] = {&copies[(next + i) % copies.size()]};
      linear(
          {.x = x.data(), .m = m, .weights = weights, .y = y.data()},
          team,
          best_kernel_path());
    }
    const double middle = seconds();
    next += turn;
    for (int64_t i = 0; i < turn; ++i) {
      read_all(copies[(next + i) % copies.size()], team);
    }
    const double end = seconds();
    next += turn;
    best = std::min(best, middle - start);
    best_read = std::min(best_read, end - middle);
    state.SetIterationTime(middle - start);
  }
  const auto total = static_cast<double>(turn * one);
  state.counters["GB/s"] = total / best * 1e-9;
  state.counters["read GB/s"] = total / best_read * 1e-9;
  state.counters["ratio"] = best_read / best;
  state.counters["us"] = best / static_cast<double>(turn) * 1e6;
}

/// Arguments: bits, rows, threads, n, k.
void many_rows(benchmark::State& state) {
  best_kernel_path();
  Executor team(static_cast<int>(state.range(2)));
  const int64_t m = state.range(1);
  const Shape shape{state.range(3), state.range(4)};
  const Weight weight = random_weight(format_of(state.range(0)), shape, team);
  const Weight* weights[] = {&weight};
  const auto x = random_floats(m * shape.k);
  const Floats y(m * shape.n);
  double best = 1e9;
  for (auto _ : state) {
    const double start = seconds();
    linear(
        {.x = x.data(), .m = m, .weights = weights, .y = y.data()},
        team,
        best_kernel_path());
    const double time = seconds() - start;
    best = std::min(best, time);
    state.SetIterationTime(time);
  }
  const double operations = 2.0 * static_cast<double>(m * shape.n * shape.k);
  state.counters["TFLOP/s/thread"] =
      operations / best * 1e-12 / static_cast<double>(state.range(2));
  state.counters["us"] = best * 1e6;
}

/// Arguments: bits, n, k. Gigabytes of packed weight per second, two threads.
void packing(benchmark::State& state) {
  Executor team(2);
  const Shape shape{state.range(1), state.range(2)};
  double best = 1e9;
  int64_t bytes = 0;
  for (auto _ : state) {
    const double start = seconds();
    const Weight weight = random_weight(format_of(state.range(0)), shape, team);
    best = std::min(best, seconds() - start);
    bytes = weight.bytes().get();
  }
  state.counters["GB/s"] = static_cast<double>(bytes) / best * 1e-9;
  state.counters["ms"] = best * 1e3;
}

void few_rows_arguments(benchmark::internal::Benchmark* b) {
  for (int64_t threads : {1, 2}) {
    for (int64_t bits : {16, 8, 6, 5, 4}) {
      b->Args({bits, 1, threads, 4096, 4096, 768});
    }
  }
  b->Args({8, 16, 1, 4096, 4096, 768});
  b->Args({4, 16, 1, 4096, 4096, 768});
  for (int64_t bits : {8, -8}) { // a 270M model's output layer
    for (int64_t m : {1, 2, 8}) {
      b->Args({bits, m, 2, 262144, 640, 768});
    }
  }
  for (int64_t m : {1, 8}) { // and its small layers, from the cache
    for (int64_t threads : {1, 2}) {
      b->Args({5, m, threads, 4096, 640, 1});
      b->Args({5, m, threads, 640, 2048, 1});
    }
  }
}

void many_rows_arguments(benchmark::internal::Benchmark* b) {
  for (int64_t bits : {16, 8, 5, 4}) {
    for (int64_t m : {64, 256, 512, 1024}) {
      b->Args({bits, m, 1, 4096, 4096});
    }
  }
  for (int64_t threads : {1, 2}) {
    b->Args({5, 512, threads, 4096, 640});
    b->Args({5, 512, threads, 2048, 2048});
    b->Args({5, 512, threads, 640, 2048});
  }
  b->Args({8, 512, 1, 16384, 640});
  b->Args({-8, 512, 1, 16384, 640});
  b->Args({32, 512, 1, 1024, 1024});
}

BENCHMARK(few_rows)
    ->Apply(few_rows_arguments)
    ->UseManualTime()
    ->Iterations(40)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(many_rows)
    ->Apply(many_rows_arguments)
    ->UseManualTime()
    ->Iterations(30)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(packing)
    ->Args({8, 262144, 640})
    ->Args({5, 262144, 640})
    ->Args({16, 65536, 640})
    ->Iterations(4)
    ->Unit(benchmark::kMillisecond);

} // namespace
