// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>

#include "commands.h"
#include "console.h"
#include "errors.h"
#include "holdfast/kernels/cpu/linear.h"
#include "json.h"

namespace holdfast::app {

namespace {

constexpr const char* kExamples = R"(
Times the linear kernels over random weights that no cache holds, beside the
rate at which the same threads read memory: one row (decode) is bound by
reading, many rows (prefill) by arithmetic. The best of several rounds counts.

Examples:
  holdfast bench kernels
  holdfast bench kernels --threads 1 --kernels avx512 --json)";

constexpr int64_t kWidth = 4096; // n and k of a weight
constexpr double kRoundSeconds = 0.25;
constexpr int kRounds = 3;

using Clock = std::chrono::steady_clock;

/// The shortest time of one call, over rounds of several calls.
template <class F>
double best_seconds(F call) {
  call();
  double best = 1e30;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = Clock::now();
    double passed = 0;
    int calls = 0;
    do {
      call();
      ++calls;
      passed = std::chrono::duration<double>(Clock::now() - begin).count();
    } while (passed < kRoundSeconds);
    best = std::min(best, passed / calls);
  }
  return best;
}

/// Bytes a second that the team reads from memory.
class MemoryRate {
 public:
  explicit MemoryRate(Executor& executor) : executor_(executor) {}

  /// The best so far; neighbours on the machine can only lower it.
  double measure() {
    const double seconds = best_seconds([&] {
      executor_.for_each(kParts, [&](int64_t part, int) {
        int found = 0;
        for (int64_t at = part * kPart; at < (part + 1) * kPart; at += kPage) {
          const char* page = bytes_.data() + at;
          for (int64_t line = 0; line < kPage; line += 64) {
            __builtin_prefetch(page + 2 * kPage + line); // harmless at the end
          }
          // The widest loads of this processor, in any build; finds nothing.
          found += std::memchr(page, 2, kPage) != nullptr ? 1 : 0;
        }
        found_ += found;
      });
    });
    best_ = std::max(best_, static_cast<double>(bytes_.size()) / seconds);
    return best_;
  }

 private:
  static constexpr int64_t kPage = 4096;
  static constexpr int64_t kPart = 1 << 19; // bytes of an item
  static constexpr int64_t kParts = 1024; // 512 MiB

  Executor& executor_;
  const std::vector<char> bytes_ = std::vector<char>(kPart * kParts, 1);
  std::atomic<int> found_{0}; // so that nothing is left out
  double best_ = 0;
};

struct Case {
  const char* name;
  cpu::WeightFormat format;
};

const Case kCases[] = {
    {"bf16", {cpu::WeightFormat::Kind::kBf16, 0, 0, false}},
    {"8 bits, groups of 32", {cpu::WeightFormat::Kind::kCodes, 8, 32, false}},
    {"6 bits, groups of 16", {cpu::WeightFormat::Kind::kCodes, 6, 16, false}},
    {"5 bits, groups of 32", {cpu::WeightFormat::Kind::kCodes, 5, 32, false}},
    {"4 bits, groups of 32", {cpu::WeightFormat::Kind::kCodes, 4, 32, true}},
};

uint32_t random_bits(int64_t row, int64_t i) {
  uint64_t z = static_cast<uint64_t>(row * kWidth + i) * 0x9e3779b97f4a7c15u;
  z ^= z >> 29;
  return static_cast<uint32_t>((z * 0xbf58476d1ce4e5b9u) >> 33);
}

cpu::Weight make_weight(const cpu::WeightFormat& format, Executor& executor) {
  if (format.kind != cpu::WeightFormat::Kind::kCodes) {
    return cpu::Weight::pack_values(
        format.kind,
        kWidth,
        kWidth,
        [](int64_t row, float* values) {
          for (int64_t i = 0; i < kWidth; ++i) {
            values[i] = static_cast<float>(random_bits(row, i) % 256) / 128 - 1;
          }
        },
        executor);
  }
  return cpu::Weight::pack_codes(
      format,
      kWidth,
      kWidth,
      [&format](int64_t row, const cpu::CodeRow& out) {
        for (int64_t i = 0; i < kWidth; ++i) {
          out.codes[i] =
              static_cast<uint8_t>(random_bits(row, i) >> (31 - format.bits));
        }
        for (int64_t g = 0; g < kWidth / format.group; ++g) {
          out.scales[g] = 0.01f;
          if (format.offsets) {
            out.offsets[g] = -0.05f;
          }
        }
      },
      executor);
}

struct Figures {
  double one_row_bytes_s = 0; // weights, M = 1
  double many_rows_flops = 0; // M = 512
};

Figures measure(const Case& one, const Runtime& runtime) {
  constexpr int64_t kRows = 512;
  // As many as do not fit any cache, walked in turn.
  std::vector<cpu::Weight> weights;
  int64_t bytes = 0;
  while (bytes < int64_t{512} << 20) {
    weights.push_back(make_weight(one.format, *runtime.executor));
    bytes += weights.back().bytes().get();
  }
  std::vector<float> x(kRows * kWidth);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(random_bits(0, static_cast<int64_t>(i)) % 256) /
            128 -
        1;
  }
  std::vector<float> y(kRows * kWidth);
  const auto call = [&](int64_t rows, const cpu::Weight& weight) {
    const cpu::Weight* list[] = {&weight};
    cpu::LinearJob job;
    job.x = x.data();
    job.m = rows;
    job.weights = list;
    job.y = y.data();
    cpu::linear(job, *runtime.executor, runtime.path);
  };
  Figures figures;
  figures.one_row_bytes_s = static_cast<double>(bytes) / best_seconds([&] {
                              for (const cpu::Weight& weight : weights) {
                                call(1, weight);
                              }
                            });
  figures.many_rows_flops = 2.0 * kRows * kWidth * kWidth /
      best_seconds([&] { call(kRows, weights.front()); });
  return figures;
}

int run_bench(const RuntimeOptions& options, bool json) {
  const Runtime runtime = options.make();
  const int threads = runtime.executor->threads();
  MemoryRate rate(*runtime.executor);
  const char* path = name(runtime.path);
  for (const Case& one : kCases) {
    rate.measure();
    const Figures figures = measure(one, runtime);
    const double memory = rate.measure();
    if (json) {
      write_out(json_line(Json{
          {"weights", one.name},
          {"kernels", path},
          {"threads", threads},
          {"read_gb_s", memory / 1e9},
          {"one_row_gb_s", figures.one_row_bytes_s / 1e9},
          {"rows_512_tflops", figures.many_rows_flops / 1e12}}));
      continue;
    }
    char text[160];
    std::snprintf(
        text,
        sizeof text,
        "%s, %d threads: linear %-21s 1 row %5.1f GB/s, memory %5.1f; 512 rows "
        "%5.2f TFLOP/s\n",
        path,
        threads,
        one.name,
        figures.one_row_bytes_s / 1e9,
        memory / 1e9,
        figures.many_rows_flops / 1e12);
    write_out(text);
  }
  return kOk;
}

} // namespace

void add_bench_kernels(CLI::App& bench, Action& action) {
  CLI::App* command =
      bench.add_subcommand("kernels", "Speed of the linear kernels");
  const auto options = std::make_shared<RuntimeOptions>();
  const auto json = std::make_shared<bool>(false);
  options->add_to(*command);
  command->add_flag("--json", *json, "One object a line");
  command->footer(kExamples);
  command->callback([&action, options, json] {
    action = [options, json] { return run_bench(*options, *json); };
  });
}

} // namespace holdfast::app
