// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Attention over chains of scattered blocks of random data. Decode: bytes of
// stored keys and values per second, beside a loop that reads the same bytes,
// turn by turn; copies are used in turn, so that they come from memory.
// Prefill: floating-point operations over visible pairs per second and thread,
// beside tile products that never leave the registers. The best of all turns is
// shown, because neighbours only ever slow one down.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "holdfast/base/bits.h"
#include "holdfast/codec/dense.h"
#include "holdfast/env/cpu.h"
#include "holdfast/env/pages.h"
#include "holdfast/kernels/cpu/attend.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

using namespace holdfast;
using namespace holdfast::cpu;

constexpr const char* kCodecs[] = {"bf16", "f16", "f32"};

double seconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

/// Values of both signs with sizes from 0.5 to 1, in the codec's format.
void fill_plane(const Codec& codec, std::byte* plane, int64_t bytes) {
  static std::mt19937_64 random(1);
  const DenseFormat format = *dense_format(codec);
  const uint64_t keep = format == DenseFormat::kF32 ? 0x807fffff807fffffu
      : format == DenseFormat::kF16                 ? 0x83ff83ff83ff83ffu
                                                    : 0x807f807f807f807fu;
  const uint64_t exponent = format == DenseFormat::kF32 ? 0x3f0000003f000000u
      : format == DenseFormat::kF16                     ? 0x3800380038003800u
                                                        : 0x3f003f003f003f00u;
  for (int64_t i = 0; i < bytes; i += 8) {
    const uint64_t word = (random() & keep) | exponent;
    std::memcpy(plane + i, &word, 8);
  }
}

struct Shape {
  const Codec* codec;
  int64_t query_heads, kv_heads, dim, window;
};

/// `rows` rows of one layer, their blocks in random order in memory.
class Rows {
 public:
  Rows(const Shape& shape, int64_t rows, int64_t positions)
      : shape_(shape), layout_(planes(shape)), blocks_(rows) {
    spec_ = {
        .query_heads = shape.query_heads,
        .kv_heads = shape.kv_heads,
        .key_dim = shape.dim,
        .value_dim = shape.dim,
        .scale = 1.0f / std::sqrt(static_cast<float>(shape.dim)),
        .visibility = {.window = shape.window, .sinks = 0},
        .sink_logits = {}};
    const int64_t chain = ceil_div(positions, kBlockTokens);
    const int64_t size = layout_.bytes().get();
    memory_ = allocate_pages(rows * chain * size);
    std::vector<int64_t> order(rows * chain);
    for (size_t i = 0; i < order.size(); ++i) {
      order[i] = static_cast<int64_t>(i);
    }
    std::shuffle(order.begin(), order.end(), std::mt19937(2));
    for (int64_t i = 0; i < rows * chain; ++i) {
      std::byte* image = memory_.get() + order[i] * size;
      fill_plane(*shape.codec, image, size);
      blocks_[i / chain].images.push_back(image);
    }
  }

  /// `count` tokens of each row from `start` on.
  void attend(int64_t start, int64_t count, Executor& team) {
    const auto rows = static_cast<int64_t>(blocks_.size());
    const int64_t tokens = rows * count;
    std::vector<RowSpan> spans;
    for (int64_t r = 0; r < rows; ++r) {
      spans.push_back({r * count, count, start});
    }
    if (q_.empty()) {
      std::mt19937 random(3);
      std::normal_distribution<float> normal;
      for (auto [to, heads] :
           {std::pair{&q_, shape_.query_heads},
            {&k_, shape_.kv_heads},
            {&v_, shape_.kv_heads}}) {
        to->resize(tokens * heads * shape_.dim);
        std::generate(to->begin(), to->end(), [&] { return normal(random); });
      }
      out_.resize(q_.size());
    }
    append_and_attend(
        {.spec = &spec_,
         .keys = shape_.codec,
         .values = shape_.codec,
         .layout = &layout_,
         .layer = 0,
         .rows = spans,
         .blocks = blocks_,
         .q = q_.data(),
         .k = k_.data(),
         .v = v_.data(),
         .out = out_.data()},
        team,
        best_kernel_path());
  }

  std::vector<const std::byte*> images() const {
    std::vector<const std::byte*> images;
    for (const RowBlocks& row : blocks_) {
      images.insert(images.end(), row.images.begin(), row.images.end());
    }
    return images;
  }
  int64_t image_bytes() const {
    return layout_.bytes().get();
  }

 private:
  static std::vector<LayerPlanes> planes(const Shape& shape) {
    LayerPlanes layer{.heads = shape.kv_heads, .planes = {}};
    for (const ChannelRole role : {ChannelRole::kKeys, ChannelRole::kValues}) {
      layer.planes.push_back(shape.codec->planes(role, shape.dim)[0]);
    }
    return {layer};
  }

  Shape shape_;
  ImageLayout layout_;
  AttentionSpec spec_;
  std::shared_ptr<std::byte> memory_;
  std::vector<RowBlocks> blocks_;
  std::vector<float> q_, k_, v_, out_;
};

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

void read_all(const Rows& rows, Executor& team) {
  constexpr int64_t kImages = 8; // as many as a split has blocks
  const auto images = rows.images();
  const auto count = static_cast<int64_t>(images.size());
  team.for_each(ceil_div(count, kImages), [&](int64_t i, int) {
    for (int64_t j = i * kImages; j < std::min(count, (i + 1) * kImages); ++j) {
      benchmark::DoNotOptimize(read_bytes(images[j], rows.image_bytes()));
    }
  });
}

/// Arguments: codec, depth, query heads, kv heads, dim, rows, threads.
void decode(benchmark::State& state) {
  best_kernel_path(); // before threads
  const Shape shape{
      &*find_codec(kCodecs[state.range(0)]).value(),
      state.range(2),
      state.range(3),
      state.range(4),
      0};
  Executor team(static_cast<int>(state.range(6)));
  const int64_t depth = state.range(1);
  std::vector<std::unique_ptr<Rows>> copies;
  int64_t bytes = 0;
  const int64_t one = 2 * shape.kv_heads * shape.dim *
      dense_element_bytes(*dense_format(*shape.codec)) * depth * state.range(5);
  while (bytes < int64_t{256} << 20) {
    copies.push_back(std::make_unique<Rows>(shape, state.range(5), depth));
    bytes += one;
  }
  const auto turn =
      std::max<int64_t>(1, std::min<int64_t>(copies.size(), (24 << 20) / one));
  double best = 1e9, best_read = 1e9;
  size_t next = 0;
  for (auto _ : state) {
    const double start = seconds();
    for (int64_t i = 0; i < turn; ++i) {
      copies[(next + i) % copies.size()]->attend(depth - 1, 1, team);
    }
    const double middle = seconds();
    next += turn;
    for (int64_t i = 0; i < turn; ++i) {
      read_all(*copies[(next + i) % copies.size()], team);
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

/// Arguments: codec, tokens, start, query heads, kv heads, dim, window,
/// threads.
void prefill(benchmark::State& state) {
  best_kernel_path();
  const Shape shape{
      &*find_codec(kCodecs[state.range(0)]).value(),
      state.range(3),
      state.range(4),
      state.range(5),
      state.range(6)};
  const int64_t tokens = state.range(1);
  const int64_t start = state.range(2);
  const auto threads = static_cast<int>(state.range(7));
  Executor team(threads);
  Rows rows(shape, 1, start + tokens);
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
  state.counters["TFLOP/s"] = rate * 1e-12; // a thread
  state.counters["tiles TFLOP/s"] = best_tiles * 1e-12;
  state.counters["us"] = best * 1e6;
}

void decode_arguments(benchmark::internal::Benchmark* bench) {
  bench->ArgNames(
      {"codec", "depth", "q_heads", "kv_heads", "dim", "rows", "threads"});
  for (const int64_t threads : {1, 2}) {
    bench->Args({0, 8192, 4, 1, 256, 1, threads}); // the demo model's
    for (const int64_t depth : {4096, 32768}) {
      bench->Args({0, depth, 8, 1, 128, 1, threads});
      bench->Args({0, depth, 8, 8, 128, 1, threads});
      bench->Args({0, depth, 8, 1, 256, 1, threads});
      bench->Args({0, depth, 8, 1, 128, 8, threads});
    }
    bench->Args({1, 32768, 8, 1, 128, 1, threads});
    bench->Args({2, 32768, 8, 1, 128, 1, threads});
  }
}

void prefill_arguments(benchmark::internal::Benchmark* bench) {
  bench->ArgNames(
      {"codec",
       "tokens",
       "start",
       "q_heads",
       "kv_heads",
       "dim",
       "window",
       "threads"});
  for (const int64_t threads : {1, 2}) {
    for (const int64_t tokens : {512, 2048}) {
      bench->Args({0, tokens, 0, 4, 1, 256, 0, threads});
      bench->Args({0, tokens, 0, 4, 1, 256, 512, threads});
    }
    bench->Args({0, 8192, 0, 8, 1, 128, 0, threads});
    bench->Args({0, 512, 7680, 8, 1, 128, 0, threads});
    bench->Args({1, 512, 0, 4, 1, 256, 0, threads});
    bench->Args({2, 512, 0, 4, 1, 256, 0, threads});
  }
}

BENCHMARK(decode)->Apply(decode_arguments)->UseManualTime();
BENCHMARK(prefill)->Apply(prefill_arguments)->UseManualTime();

} // namespace
