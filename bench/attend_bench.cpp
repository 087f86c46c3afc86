// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Attention over chains of scattered blocks of random data. Decode: bytes of
// stored keys and values per second, beside a loop that reads the same bytes
// and beside bf16 state of the same shape, turn by turn. Prefill:
// floating-point operations over visible pairs per second and thread, beside
// tile products that never leave the registers. The best of all turns is shown,
// because neighbours only ever slow one down.

#include <chrono>

#include <benchmark/benchmark.h>

#include "bench/attend_rows.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

using namespace holdfast;
using namespace holdfast::cpu;

/// Keys and values, as arguments number them.
struct Pair {
  const char* keys;
  const char* values;
};
constexpr Pair kPairs[] = {
    {"bf16", "bf16"},
    {"f16", "f16"},
    {"f32", "f32"},
    {"q8", "q8"},
    {"q4", "q4"},
    {"t4", "t4"},
    {"t3", "t3"},
    {"t8", "t8"},
    {"q6", "q6"},
    {"q5", "q5"},
    {"q3", "q3"},
    {"q2", "q2"},
    {"t5", "t5"},
    {"t2", "t2"},
    {"q4g32", "q4g32"},
    {"q8", "t3"}};
enum { kBf16, kF16, kF32, kQ8, kQ4, kT4, kT3 };

AttendShape shape_of(int64_t pair, int64_t query_heads, int64_t kv_heads) {
  return {
      find_codec(kPairs[pair].keys).value(),
      find_codec(kPairs[pair].values).value(),
      query_heads,
      kv_heads,
      0,
      0};
}

double seconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

#if defined(__x86_64__)
/// Adds up a plane in whole lines, fetching 2 KiB ahead.
__attribute__((target("avx512f"))) uint64_t
read_bytes(const std::byte* from, int64_t bytes) {
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
#else
uint64_t read_bytes(const std::byte* from, int64_t bytes) {
  uint64_t sum = 0;
  for (int64_t i = 0; i + 8 <= bytes; i += 8) {
    uint64_t word;
    std::memcpy(&word, from + i, 8);
    sum += word;
  }
  return sum;
}
#endif

void read_all(const AttendRows& rows, Executor& team) {
  constexpr int64_t kImages = 8; // two splits' blocks
  const auto& images = rows.images();
  const auto count = static_cast<int64_t>(images.size());
  team.for_each(ceil_div(count, kImages), [&](int64_t i, int) {
    for (int64_t j = i * kImages; j < std::min(count, (i + 1) * kImages); ++j) {
      benchmark::DoNotOptimize(read_bytes(images[j], rows.image_bytes()));
    }
  });
}

/// Arguments: pair, depth, query heads, kv heads, dim, rows, threads.
void decode(benchmark::State& state) {
  best_kernel_path(); // before threads
  const auto pair = state.range(0);
  AttendShape shape = shape_of(pair, state.range(2), state.range(3));
  shape.dim = state.range(4);
  AttendShape plain = shape;
  plain.keys = plain.values = find_codec("bf16").value();
  Executor team(static_cast<int>(state.range(6)));
  const int64_t depth = state.range(1);
  const AttendBatch batch{.rows = state.range(5), .positions = depth};
  AttendCopies copies(shape, batch);
  AttendCopies bf16(plain, batch);
  const auto step = [&](AttendRows& rows) { rows.attend(depth - 1, 1, team); };
  double best = 1e9, best_read = 1e9, best_bf16 = 1e9;
  for (auto _ : state) {
    const double start = seconds();
    copies.take_turn(step);
    const double time = seconds() - start;
    const double read = seconds();
    copies.take_turn([&](AttendRows& rows) { read_all(rows, team); });
    const double read_end = seconds();
    bf16.take_turn(step);
    const double bf16_end = seconds();
    best = std::min(best, time);
    best_read = std::min(best_read, read_end - read);
    best_bf16 = std::min(best_bf16, bf16_end - read_end);
    state.SetIterationTime(time);
  }
  const auto turn = static_cast<double>(copies.turn());
  const double total = turn * static_cast<double>(copies.bytes());
  state.SetLabel(std::string(kPairs[pair].keys) + "/" + kPairs[pair].values);
  state.counters["GB/s"] = total / best * 1e-9;
  state.counters["read GB/s"] = total / best_read * 1e-9;
  state.counters["share"] = best_read / best;
  state.counters["us"] = best / turn * 1e6;
  state.counters["x bf16"] =
      (best_bf16 / static_cast<double>(bf16.turn())) / (best / turn);
}

/// Decode of rows that share a prefix, beside rows that hold it each. The
/// prefix is followed by half a block of the row's own. Arguments: pair,
/// prefix, query heads, kv heads, dim, rows, threads.
void decode_shared(benchmark::State& state) {
  best_kernel_path();
  const auto pair = state.range(0);
  AttendShape shape = shape_of(pair, state.range(2), state.range(3));
  shape.dim = state.range(4);
  Executor team(static_cast<int>(state.range(6)));
  const int64_t shared = state.range(1) / kBlockTokens;
  const AttendBatch batch{
      .rows = state.range(5),
      .positions = shared * kBlockTokens + kBlockTokens / 2};
  AttendBatch sharing = batch;
  sharing.shared = shared;
  AttendCopies together(shape, sharing);
  AttendCopies apart(shape, batch);
  const auto step = [&](AttendRows& rows) {
    rows.attend(batch.positions - 1, 1, team);
  };
  double best = 1e9, best_apart = 1e9;
  for (auto _ : state) {
    const double start = seconds();
    together.take_turn(step);
    const double time = seconds() - start;
    const double middle = seconds();
    apart.take_turn(step);
    best_apart = std::min(best_apart, seconds() - middle);
    best = std::min(best, time);
    state.SetIterationTime(time);
  }
  best /= static_cast<double>(together.turn());
  best_apart /= static_cast<double>(apart.turn());
  state.SetLabel(std::string(kPairs[pair].keys) + "/" + kPairs[pair].values);
  state.counters["us"] = best * 1e6;
  state.counters["apart us"] = best_apart * 1e6;
  state.counters["Mpos/s"] =
      static_cast<double>(batch.rows * batch.positions) / best * 1e-6;
  state.counters["x apart"] = best_apart / best;
}

#if defined(__x86_64__)
/// FLOP/s of tile products in registers on one core; 0 without AMX.
double tile_rate() {
  if (best_kernel_path() != KernelPath::kAmx) {
    return 0.0;
  }
  struct alignas(64) {
    uint8_t palette = 1;
    uint8_t zero[15] = {};
    uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } config;
  asm volatile("ldtilecfg %0" : : "m"(config));
  constexpr int kRounds = 20000;
  const double start = seconds();
  for (int i = 0; i < kRounds; ++i) {
    asm volatile(
        "tdpbf16ps %tmm6, %tmm4, %tmm0\n\ttdpbf16ps %tmm7, %tmm4, %tmm1\n\t"
        "tdpbf16ps %tmm6, %tmm5, %tmm2\n\ttdpbf16ps %tmm7, %tmm5, %tmm3");
  }
  const double end = seconds();
  asm volatile("tilerelease");
  return 4.0 * kRounds * 2 * 16 * 16 * 32 / (end - start);
}
#else
double tile_rate() {
  return 0.0;
}
#endif

/// Arguments: pair, tokens, start, query heads, kv heads, dim, window,
/// threads.
void prefill(benchmark::State& state) {
  best_kernel_path();
  const auto pair = state.range(0);
  AttendShape shape = shape_of(pair, state.range(3), state.range(4));
  shape.dim = state.range(5);
  shape.window = state.range(6);
  const int64_t tokens = state.range(1);
  const int64_t start = state.range(2);
  const auto threads = static_cast<int>(state.range(7));
  Executor team(threads);
  AttendRows rows(shape, {.rows = 1, .positions = start + tokens});
  double pairs = 0.0;
  for (int64_t p = start; p < start + tokens; ++p) {
    const int64_t seen =
        shape.window > 0 ? std::min(shape.window, p + 1) : p + 1;
    pairs += static_cast<double>(seen * shape.query_heads);
  }
  double best = 1e9, best_tiles = 0.0;
  for (auto _ : state) {
    const double begin = seconds();
    rows.attend(start, tokens, team);
    const double time = seconds() - begin;
    best = std::min(best, time);
    best_tiles = std::max(best_tiles, tile_rate());
    state.SetIterationTime(time);
  }
  const double rate =
      pairs * 4.0 * static_cast<double>(shape.dim) / best / threads;
  state.SetLabel(std::string(kPairs[pair].keys) + "/" + kPairs[pair].values);
  state.counters["TFLOP/s"] = rate * 1e-12; // a thread
  state.counters["share"] = rate / best_tiles;
  state.counters["tiles TFLOP/s"] = best_tiles * 1e-12;
  state.counters["us"] = best * 1e6;
}

void decode_arguments(benchmark::internal::Benchmark* bench) {
  bench->ArgNames(
      {"pair", "depth", "q_heads", "kv_heads", "dim", "rows", "threads"});
  for (const int64_t threads : {1, 2}) {
    bench->Args({kBf16, 8192, 4, 1, 256, 1, threads}); // the demo model's
    bench->Args({kBf16, 4096, 8, 1, 128, 1, threads});
    bench->Args({kBf16, 288, 4, 1, 256, 8, threads});
    for (const int64_t pair : {kBf16, kQ8, kQ4, kT4, kT3}) {
      bench->Args({pair, 32768, 8, 1, 128, 1, threads});
      bench->Args({pair, 32768, 8, 4, 128, 1, threads});
      bench->Args({pair, 32768, 8, 8, 128, 1, threads});
      bench->Args({pair, 32768, 8, 1, 256, 1, threads});
      bench->Args({pair, 32768, 8, 8, 256, 1, threads});
      bench->Args({pair, 32768, 8, 1, 128, 8, threads});
    }
  }
  for (int64_t pair = kF16; pair < int64_t{std::size(kPairs)}; ++pair) {
    if (pair < kQ8 || pair > kT3) {
      bench->Args({pair, 32768, 8, 1, 128, 1, 1});
    }
  }
}

void shared_arguments(benchmark::internal::Benchmark* bench) {
  bench->ArgNames(
      {"pair", "prefix", "q_heads", "kv_heads", "dim", "rows", "threads"});
  for (const int64_t threads : {1, 2}) {
    for (const int64_t pair : {kBf16, kQ4, kT4}) {
      bench->Args({pair, 4096, 4, 1, 256, 8, threads}); // the demo model's
      bench->Args({pair, 4096, 8, 1, 128, 8, threads});
      bench->Args({pair, 4096, 8, 4, 128, 8, threads});
      bench->Args({pair, 4096, 8, 8, 128, 8, threads});
    }
  }
}

void prefill_arguments(benchmark::internal::Benchmark* bench) {
  bench->ArgNames(
      {"pair",
       "tokens",
       "start",
       "q_heads",
       "kv_heads",
       "dim",
       "window",
       "threads"});
  for (const int64_t threads : {1, 2}) {
    for (const int64_t tokens : {512, 2048}) {
      bench->Args({kBf16, tokens, 0, 4, 1, 256, 0, threads});
      bench->Args({kBf16, tokens, 0, 4, 1, 256, 512, threads});
    }
    for (const int64_t pair : {kBf16, kQ8, kQ4, kT4}) {
      bench->Args({pair, 8192, 0, 8, 1, 128, 0, threads});
    }
    bench->Args({kBf16, 512, 7680, 8, 1, 128, 0, threads});
    bench->Args({kF16, 512, 0, 4, 1, 256, 0, threads});
    bench->Args({kF32, 512, 0, 4, 1, 256, 0, threads});
  }
}

BENCHMARK(decode)->Apply(decode_arguments)->UseManualTime();
BENCHMARK(decode_shared)->Apply(shared_arguments)->UseManualTime();
BENCHMARK(prefill)->Apply(prefill_arguments)->UseManualTime();

} // namespace
