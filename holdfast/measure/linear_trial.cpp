// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/measure/linear_trial.h"

#include <algorithm>
#include <cstring>

#include "holdfast/measure/seconds.h"

namespace holdfast::measure {

namespace {

constexpr int64_t kWidth = 4096; // n and k of a weight
constexpr double kRoundSeconds = 0.25;
constexpr int kRounds = 3;
constexpr int64_t kPage = 4096;
constexpr int64_t kPart = 1 << 19; // bytes that a thread reads at a time
constexpr int64_t kParts = 1024; // 512 MiB

/// The shortest time of one call, over rounds of several calls.
template <class F>
double best_seconds(F call) {
  call();
  double best = 1e30;
  for (int round = 0; round < kRounds; ++round) {
    const double begin = seconds();
    double passed = 0;
    int calls = 0;
    do {
      call();
      ++calls;
      passed = seconds() - begin;
    } while (passed < kRoundSeconds);
    best = std::min(best, passed / calls);
  }
  return best;
}

constexpr LinearCase kCases[] = {
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

} // namespace

std::span<const LinearCase> linear_cases() {
  return kCases;
}

LinearFigures
linear_figures(const LinearCase& of, KernelPath path, Executor& executor) {
  constexpr int64_t kRows = 512;
  // As many as do not fit any cache, walked in turn.
  std::vector<cpu::Weight> weights;
  int64_t bytes = 0;
  while (bytes < int64_t{512} << 20) {
    weights.push_back(make_weight(of.format, executor));
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
    cpu::linear(job, executor, path);
  };
  LinearFigures figures;
  figures.one_row_bytes_s = static_cast<double>(bytes) / best_seconds([&] {
                              for (const cpu::Weight& weight : weights) {
                                call(1, weight);
                              }
                            });
  figures.many_rows_flops = 2.0 * kRows * kWidth * kWidth /
      best_seconds([&] { call(kRows, weights.front()); });
  return figures;
}

MemoryRate::MemoryRate(Executor& executor)
    : executor_(executor), bytes_(kPart * kParts, 1) {}

double MemoryRate::measure() {
  const double time = best_seconds([&] {
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
  best_ = std::max(best_, static_cast<double>(bytes_.size()) / time);
  return best_;
}

} // namespace holdfast::measure
