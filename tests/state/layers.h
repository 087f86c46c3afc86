// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Helpers for tests of State and Step: three layers (one full, two sliding) run
// over random vectors. One thread.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "mlx/mlx.h"

#include "holdfast/base/check.h"
#include "holdfast/state/state.h"

namespace holdfast::test {

namespace mx = mlx::core;

inline constexpr int64_t kHeads = 4;
inline constexpr int64_t kKvHeads = 2;
inline constexpr int64_t kDim = 64;

inline StateOptions options(const char* codec = "bf16", int threads = 2) {
  StateOptions options;
  for (int64_t window : {0, 20, 20}) {
    options.layers.push_back(AttentionSpec{
        .query_heads = kHeads,
        .kv_heads = kKvHeads,
        .key_dim = kDim,
        .value_dim = kDim,
        .scale = 0.125f,
        .softcap = 0.0f,
        .visibility = {.window = window},
        .sink_logits = {}});
  }
  const Codec* stored = find_codec(codec).value();
  options.precision.phases = always(stored, stored);
  options.runtime = {std::make_shared<Executor>(threads), best_kernel_path()};
  return options;
}

// The vectors of one sequence: the same at each position in every run.
struct Sequence {
  explicit Sequence(int64_t length, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    for (auto* values : {&q, &k, &v}) {
      const int64_t heads = values == &q ? kHeads : kKvHeads;
      values->resize(length * heads * kDim);
      for (float& x : *values) {
        x = normal(random);
      }
    }
  }
  std::vector<float> q, k, v;
};

// Tokens of a step, as the ragged arrays of its layers.
struct Part {
  const Sequence* sequence;
  int64_t first;
  int64_t count;
};

inline mx::array gather(
    const std::vector<Part>& parts,
    std::vector<float> Sequence::*values,
    int64_t heads) {
  std::vector<float> all;
  for (const Part& part : parts) {
    const auto& from = part.sequence->*values;
    const auto begin = from.begin() + part.first * heads * kDim;
    all.insert(all.end(), begin, begin + part.count * heads * kDim);
  }
  const auto tokens = static_cast<int>(all.size() / (heads * kDim));
  return mx::array(
      all.data(),
      mx::Shape{tokens, static_cast<int>(heads), static_cast<int>(kDim)},
      mx::float32);
}

// The outputs of a step's layers, chained so that the last depends on each: a
// layer's queries are the outputs before it. Not evaluated.
inline mx::array attend_layers(Step& step, const std::vector<Part>& parts) {
  const auto k = gather(parts, &Sequence::k, kKvHeads);
  const auto v = gather(parts, &Sequence::v, kKvHeads);
  auto x = gather(parts, &Sequence::q, kHeads);
  for (int64_t layer = 0; layer < 3; ++layer) {
    x = step.attend(LayerIndex(layer), x, k, v);
  }
  return x;
}

inline std::vector<float> values_of(const mx::array& x) {
  return {x.data<float>(), x.data<float>() + x.size()};
}

inline std::vector<float>
run_layers(Step& step, const std::vector<Part>& parts) {
  auto x = attend_layers(step, parts);
  mx::eval({x});
  return values_of(x);
}

// Appends and commits; returns the outputs.
inline std::vector<float> append_to(State& state, RowId row, const Part& part) {
  const RowAppend append{row, part.count};
  Step step = state.begin({&append, 1});
  auto out = run_layers(step, {part});
  step.commit_all();
  return out;
}

// The outputs of a sequence alone, in the given chunks.
inline std::vector<float> run_alone(
    State& state,
    const Sequence& sequence,
    const std::vector<int64_t>& chunks) {
  const RowId row = state.add_row();
  std::vector<float> all;
  int64_t done = 0;
  for (const int64_t count : chunks) {
    const auto out = append_to(state, row, {&sequence, done, count});
    all.insert(all.end(), out.begin(), out.end());
    done += count;
  }
  return all;
}

inline bool
same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
      std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

inline std::vector<int64_t> chunks_of(int64_t length, int64_t chunk) {
  std::vector<int64_t> chunks;
  for (; length > 0; length -= chunk) {
    chunks.push_back(std::min(chunk, length));
  }
  return chunks;
}

// Calls what must throw Error; returns its text.
inline std::string expect_error(ErrorCode code, const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "expected an error: " << name(code);
  return "";
}

// The largest difference of two results; infinity where one is no number.
inline float
worst_difference(const std::vector<float>& a, const std::vector<float>& b) {
  float worst = a.size() == b.size() ? 0.0f : INFINITY;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const float difference = std::abs(a[i] - b[i]);
    worst = std::max(worst, std::isnan(difference) ? INFINITY : difference);
  }
  return worst;
}

} // namespace holdfast::test
