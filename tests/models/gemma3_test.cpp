// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include <gtest/gtest.h>

#include "mlx/mlx.h"

#include "holdfast/state/state.h"
#include "tests/kernel_paths.h"
#include "tests/models/gemma3_reference.h"
#include "tests/models/random_source.h"

namespace holdfast {
namespace {

namespace mx = mlx::core;
using cpu::WeightFormat;

const WeightFormat kF32{WeightFormat::Kind::kF32, 0, 0, false};
const WeightFormat kBf16{WeightFormat::Kind::kBf16, 0, 0, false};
const WeightFormat kQ8{WeightFormat::Kind::kCodes, 8, 32, false};
const WeightFormat kQ4{WeightFormat::Kind::kCodes, 4, 32, true};

std::vector<int32_t> random_tokens(int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int32_t> tokens(count);
  for (auto& token : tokens) {
    token = static_cast<int32_t>(random() % 300);
  }
  return tokens;
}

// A model with a state of its own.
struct Rig {
  explicit Rig(
      const WeightFormat& format,
      const char* codec = "bf16",
      int threads = 2,
      KernelPath path = best_kernel_path(),
      bool reference = false)
      : runtime{std::make_shared<Executor>(threads), path},
        source(test::small_gemma3(), format, *runtime.executor),
        model(make_model(source, runtime)),
        state(StateOptions{
            .layers = model->layers(),
            .precision =
                {.phases = always(
                     find_codec(codec).value(),
                     find_codec(codec).value())},
            .runtime = runtime,
            .reference_read = reference}) {}

  // Logits of all tokens of the rows, in order.
  std::vector<float>
  step(const std::vector<RowAppend>& rows, const std::vector<int32_t>& tokens) {
    std::vector<int32_t> outputs(tokens.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      outputs[i] = static_cast<int32_t>(i);
    }
    Step step = state.begin(rows);
    auto logits = *model->forward(step, tokens, outputs);
    mx::eval({logits});
    step.commit_all();
    return {logits.data<float>(), logits.data<float>() + logits.size()};
  }

  std::vector<float> alone(const std::vector<int32_t>& tokens, int64_t chunk) {
    const RowId row = state.add_row();
    std::vector<float> all;
    for (size_t done = 0; done < tokens.size(); done += chunk) {
      const size_t end = std::min(tokens.size(), done + chunk);
      const auto part = step(
          {{row, static_cast<int64_t>(end - done)}},
          {tokens.begin() + done, tokens.begin() + end});
      all.insert(all.end(), part.begin(), part.end());
    }
    state.remove_row(row);
    return all;
  }

  Runtime runtime;
  test::RandomSource source;
  std::unique_ptr<Model> model;
  State state;
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
      std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST(Gemma3, AgreesWithPlainDoublesInF32) {
  for (const bool reference : {false, true}) {
    Rig rig(kF32, "f32", 2, best_kernel_path(), reference);
    const auto tokens = random_tokens(90, 1);
    const auto got = rig.alone(tokens, 40);
    const auto want = test::Gemma3Reference(rig.source).logits(tokens);
    ASSERT_EQ(got.size(), tokens.size() * 300);
    double worst = 0;
    for (size_t t = 0; t < tokens.size(); ++t) {
      for (int64_t i = 0; i < 300; ++i) {
        ASSERT_TRUE(std::isfinite(got[t * 300 + i]));
        worst = std::max(worst, std::abs(got[t * 300 + i] - want[t][i]));
      }
    }
    EXPECT_LT(worst, 1e-4) << (reference ? "reference read" : "block read");
  }
}

TEST(Gemma3, GivesTheSameBitsInAnyChunks) {
  for (const auto& format : {kF32, kBf16, kQ8, kQ4}) {
    Rig rig(format);
    const auto tokens = random_tokens(150, 2);
    const auto whole = rig.alone(tokens, 150);
    for (const int64_t chunk : {1, 7, 64, 100}) {
      EXPECT_TRUE(same_bits(whole, rig.alone(tokens, chunk)))
          << format.bits << " bits, chunk " << chunk;
    }
  }
}

TEST(Gemma3, GivesTheSameBitsOnAnyThreadsAndPaths) {
  for (const auto& format : {kF32, kBf16, kQ8, kQ4}) {
    const auto tokens = random_tokens(100, 3);
    const auto want = Rig(format).alone(tokens, 100);
    EXPECT_TRUE(same_bits(want, Rig(format, "bf16", 1).alone(tokens, 30)));
    EXPECT_TRUE(same_bits(want, Rig(format, "bf16", 3).alone(tokens, 30)));
    for (const KernelPath path : test::paths_here()) {
      EXPECT_TRUE(
          same_bits(want, Rig(format, "bf16", 2, path).alone(tokens, 100)))
          << name(path) << ", " << format.bits << " bits";
    }
  }
}

TEST(Gemma3, GivesTheSameBitsInABatchOfRaggedNeighbours) {
  Rig rig(kQ8);
  const auto mine = random_tokens(120, 4);
  const auto alone = rig.alone(mine, 120);
  const RowId row = rig.state.add_row();
  std::vector<float> got;
  std::mt19937_64 random(5);
  std::vector<RowId> neighbours;
  for (size_t done = 0; done < mine.size();) {
    if (neighbours.size() < 3) {
      neighbours.push_back(rig.state.add_row());
    } else if (random() % 3 == 0) {
      rig.state.remove_row(neighbours.front());
      neighbours.erase(neighbours.begin());
    }
    const size_t count = std::min<size_t>(1 + random() % 20, 120 - done);
    std::vector<RowAppend> rows;
    std::vector<int32_t> tokens;
    for (const RowId neighbour : neighbours) {
      const auto extra = random_tokens(1 + random() % 40, random());
      rows.push_back({neighbour, static_cast<int64_t>(extra.size())});
      tokens.insert(tokens.end(), extra.begin(), extra.end());
    }
    const size_t before = tokens.size();
    rows.push_back({row, static_cast<int64_t>(count)});
    tokens.insert(
        tokens.end(), mine.begin() + done, mine.begin() + done + count);
    const auto out = rig.step(rows, tokens);
    got.insert(got.end(), out.begin() + before * 300, out.end());
    done += count;
  }
  EXPECT_TRUE(same_bits(alone, got));
}

TEST(Gemma3, GivesTheOutputsAskedForInTheOrderAskedFor) {
  Rig rig(kQ4);
  const auto tokens = random_tokens(50, 6);
  const auto all = rig.alone(tokens, 50);
  std::vector<int32_t> backwards(50);
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  const RowAppend append{rig.state.add_row(), 50};
  for (const auto& outputs : {std::vector<int32_t>{3, 49}, backwards}) {
    Step step = rig.state.begin({&append, 1});
    auto logits = *rig.model->forward(step, tokens, outputs);
    mx::eval({logits});
    ASSERT_EQ(logits.size(), outputs.size() * 300);
    for (size_t i = 0; i < outputs.size(); ++i) {
      ASSERT_EQ(
          std::memcmp(
              logits.data<float>() + i * 300,
              all.data() + outputs[i] * 300,
              300 * sizeof(float)),
          0)
          << "output " << i << " of " << outputs.size();
    }
  }
}

TEST(Gemma3, RefusesTokensAndOutputsThatAreNotThere) {
  Rig rig(kQ4);
  const RowAppend append{rig.state.add_row(), 5};
  const auto forward = [&](std::vector<int32_t> tokens,
                           std::vector<int32_t> outputs) {
    Step step = rig.state.begin({&append, 1});
    auto logits = *rig.model->forward(step, tokens, outputs);
    mx::eval({logits});
    step.commit_all();
  };
  EXPECT_THROW(forward({1, 2, 3, 4}, {0}), Error); // too few
  EXPECT_THROW(forward({1, 2, 3, 4, 5}, {5}), Error);
  EXPECT_THROW(forward({1, 2, 3, 4, 5}, {-1}), Error);
  // Ids are looked at by a task, so MLX passes the text on.
  EXPECT_THROW(forward({1, 2, 300, 4, 5}, {0}), std::runtime_error);
  EXPECT_THROW(forward({1, 2, -1, 4, 5}, {0}), std::runtime_error);
  EXPECT_EQ(rig.state.length(append.row), Position(0));
  forward({1, 2, 3, 4, 5}, {0});
  EXPECT_EQ(rig.state.length(append.row), Position(5));
}

TEST(Model, NamesTheFamiliesItKnows) {
  Executor executor(1);
  ModelConfig config = test::small_gemma3();
  config.family = "unheard-of";
  const test::RandomSource source(config, kF32, executor);
  try {
    make_model(source, {});
    FAIL() << "expected a refusal";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("gemma3"), std::string::npos);
  }
}

} // namespace
} // namespace holdfast
