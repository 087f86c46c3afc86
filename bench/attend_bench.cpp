// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Attention over chains of scattered blocks of random data. Decode: bytes of
// stored keys and values per second, beside a loop that reads the same bytes
// and beside bf16 state of the same shape, turn by turn. Prefill:
// floating-point operations over visible pairs per second, beside products that
// never leave the registers. The best of all turns is shown.

#include <algorithm>
#include <string>

#include <benchmark/benchmark.h>

#include "holdfast/measure/attend_trial.h"

namespace {

using namespace holdfast;
using namespace holdfast::measure;

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

std::string label_of(int64_t pair) {
  return std::string(kPairs[pair].keys) + "/" + kPairs[pair].values;
}

/// Arguments: pair, depth, query heads, kv heads, dim, rows, threads.
void decode(benchmark::State& state) {
  const KernelPath path = best_kernel_path(); // before threads
  AttendShape shape = shape_of(state.range(0), state.range(2), state.range(3));
  shape.dim = state.range(4);
  AttendShape plain = shape;
  plain.keys = plain.values = find_codec("bf16").value();
  Executor team(static_cast<int>(state.range(6)));
  const AttendBatch batch{.rows = state.range(5), .positions = state.range(1)};
  AttendCopies copies(shape, batch);
  AttendCopies bf16(plain, batch);
  DecodeTrial trial(copies, bf16, {&team, path});
  for (auto _ : state) {
    state.SetIterationTime(trial.turn());
  }
  state.SetLabel(label_of(state.range(0)));
  state.counters["GB/s"] = trial.rate() * 1e-9;
  state.counters["read GB/s"] = trial.read_rate() * 1e-9;
  state.counters["share"] = trial.share_of_read();
  state.counters["us"] = trial.step_seconds() * 1e6;
  state.counters["x bf16"] = trial.times_others();
}

/// Decode of rows that share a prefix, beside rows that hold it each. The
/// prefix is followed by half a block of the row's own. Arguments: pair,
/// prefix, query heads, kv heads, dim, rows, threads.
void decode_shared(benchmark::State& state) {
  const KernelPath path = best_kernel_path();
  AttendShape shape = shape_of(state.range(0), state.range(2), state.range(3));
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
  DecodeTrial trial(together, apart, {&team, path});
  for (auto _ : state) {
    state.SetIterationTime(trial.turn());
  }
  state.SetLabel(label_of(state.range(0)));
  state.counters["us"] = trial.step_seconds() * 1e6;
  state.counters["apart us"] =
      trial.step_seconds() * trial.times_others() * 1e6;
  state.counters["Mpos/s"] = trial.positions_rate() * 1e-6;
  state.counters["x apart"] = trial.times_others();
}

/// Arguments: pair, tokens, start, query heads, kv heads, dim, window,
/// threads.
void prefill(benchmark::State& state) {
  const KernelPath path = best_kernel_path();
  AttendShape shape = shape_of(state.range(0), state.range(3), state.range(4));
  shape.dim = state.range(5);
  shape.window = state.range(6);
  Executor team(static_cast<int>(state.range(7)));
  PrefillTrial trial(shape, state.range(2), state.range(1), {&team, path});
  for (auto _ : state) {
    state.SetIterationTime(trial.turn());
  }
  state.SetLabel(label_of(state.range(0)));
  state.counters["TFLOP/s"] = trial.rate() * 1e-12; // of all threads
  state.counters["share"] = trial.rate() / trial.register_rate();
  state.counters["registers TFLOP/s"] = trial.register_rate() * 1e-12;
  state.counters["us"] = trial.step_seconds() * 1e6;
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
