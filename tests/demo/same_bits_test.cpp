// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The demo model gives the same logits, bit for bit, however its tokens arrive.
// Needs the file that `./dev model` leaves; fails where it is missing.

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "mlx/mlx.h"

#include "holdfast/engine/load.h"
#include "tests/kernel_paths.h"

namespace holdfast {
namespace {

namespace mx = mlx::core;

constexpr int64_t kTokens = 600; // the window is 512
constexpr int64_t kFew = 4; // tokens that plain C++ has the time for
constexpr int64_t kVocab = 262144;

std::vector<int32_t> random_tokens(int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int32_t> tokens(count);
  for (auto& token : tokens) {
    token = static_cast<int32_t>(random() % kVocab);
  }
  return tokens;
}

LoadedModel load(int threads, KernelPath path) {
  return load_model(
      HOLDFAST_DEMO_MODEL, Runtime{std::make_shared<Executor>(threads), path});
}

const LoadedModel& demo(int threads) {
  static const LoadedModel one = load(1, best_kernel_path());
  static const LoadedModel two = load(2, best_kernel_path());
  return threads == 1 ? one : two;
}

/// Logits are kept of each twelfth token, and of the last that plain C++ sees.
bool is_kept(int64_t token) {
  return token % 12 == 0 || token == kFew - 1;
}

using Logits = std::vector<std::vector<float>>; // of the tokens kept

// Feeds [first, first + count) of a row's tokens, beside other rows that come
// before it in the batch; appends the logits kept.
void feed(
    const LoadedModel& loaded,
    State& state,
    std::vector<RowAppend> rows,
    std::vector<int32_t> batch_tokens,
    std::span<const int32_t> tokens,
    int64_t first,
    Logits& kept) {
  std::vector<int32_t> outputs;
  for (int64_t t = first; t < first + rows.back().count; ++t) {
    if (is_kept(t)) {
      outputs.push_back(
          static_cast<int32_t>(batch_tokens.size()) +
          static_cast<int32_t>(t - first));
    }
  }
  const auto mine = tokens.subspan(first, rows.back().count);
  batch_tokens.insert(batch_tokens.end(), mine.begin(), mine.end());
  Step step = state.begin(rows);
  auto logits = loaded.model->forward(step, batch_tokens, outputs);
  if (logits) {
    mx::eval({*logits});
  }
  step.commit_all();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const float* row = logits->data<float>() + i * kVocab;
    kept.emplace_back(row, row + kVocab);
  }
}

Logits
alone(const LoadedModel& loaded, int64_t chunk, int64_t count = kTokens) {
  const auto state = make_state(loaded, {});
  const auto tokens = random_tokens(kTokens, 1);
  const RowId row = state->add_row();
  Logits kept;
  for (int64_t done = 0; done < count; done += chunk) {
    feed(
        loaded,
        *state,
        {{row, std::min(chunk, count - done)}},
        {},
        tokens,
        done,
        kept);
  }
  return kept;
}

const Logits& whole() {
  static const Logits logits = alone(demo(2), kTokens);
  return logits;
}

/// Of the first `count` tokens.
void expect_same_bits(const Logits& got, int64_t count = kTokens) {
  size_t i = 0;
  for (int64_t token = 0; token < count; ++token) {
    if (!is_kept(token)) {
      continue;
    }
    ASSERT_LT(i, got.size());
    ASSERT_EQ(
        std::memcmp(got[i].data(), whole()[i].data(), kVocab * sizeof(float)),
        0)
        << "token " << token;
    ++i;
  }
  EXPECT_EQ(i, got.size());
}

class InChunks : public testing::TestWithParam<int64_t> {};

TEST_P(InChunks, TheDemoModelGivesTheSameBits) {
  expect_same_bits(alone(demo(2), GetParam()));
}
INSTANTIATE_TEST_SUITE_P(DemoModel, InChunks, testing::Values(1, 7, 64, 512));

TEST(DemoModel, GivesTheSameBitsOnOneThread) {
  expect_same_bits(alone(demo(1), kTokens));
  expect_same_bits(alone(demo(1), 64));
}

TEST(DemoModel, GivesTheSameBitsBesideNeighboursThatComeAndGo) {
  const LoadedModel& loaded = demo(2);
  const auto state = make_state(loaded, {});
  const auto tokens = random_tokens(kTokens, 1);
  const RowId row = state->add_row();
  std::mt19937_64 random(2);
  std::vector<RowId> neighbours;
  Logits kept;
  for (int64_t done = 0; done < kTokens;) {
    if (neighbours.size() < 3 || random() % 2 == 0) {
      neighbours.push_back(state->add_row());
    }
    if (neighbours.size() > 4) {
      state->remove_row(neighbours[1]);
      neighbours.erase(neighbours.begin() + 1);
    }
    std::vector<RowAppend> rows;
    std::vector<int32_t> batch;
    for (const RowId neighbour : neighbours) {
      const auto extra = random_tokens(1 + random() % 30, random());
      rows.push_back({neighbour, static_cast<int64_t>(extra.size())});
      batch.insert(batch.end(), extra.begin(), extra.end());
    }
    const auto count = std::min<int64_t>(
        1 + static_cast<int64_t>(random() % 40), kTokens - done);
    rows.push_back({row, count});
    feed(loaded, *state, rows, batch, tokens, done, kept);
    done += count;
  }
  expect_same_bits(kept);
}

// Each step drafts seven tokens, of which the first few are the row's own.
TEST(DemoModel, GivesTheSameBitsAfterRejectedDrafts) {
  const LoadedModel& loaded = demo(2);
  const auto state = make_state(loaded, {});
  const auto tokens = random_tokens(kTokens, 1);
  const RowId row = state->add_row();
  Logits kept;
  int64_t done = 500; // drafts reach over the window and a block's end
  feed(loaded, *state, {{row, done}}, {}, tokens, 0, kept);
  std::mt19937_64 random(3);
  while (done < kTokens) {
    const int64_t accepted =
        std::min<int64_t>(static_cast<int64_t>(random() % 8), kTokens - done);
    auto draft = random_tokens(7, random());
    std::copy_n(tokens.begin() + done, accepted, draft.begin());
    std::vector<int32_t> outputs(7);
    std::iota(outputs.begin(), outputs.end(), 0);
    Step step = state->begin(std::vector<RowAppend>{{row, 7}});
    auto logits = loaded.model->forward(step, draft, outputs);
    mx::eval({*logits});
    step.commit(std::vector<int64_t>{accepted});
    for (int64_t i = 0; i < accepted; ++i) {
      if (is_kept(done + i)) {
        const float* at = logits->data<float>() + i * kVocab;
        kept.emplace_back(at, at + kVocab);
      }
    }
    done += accepted;
  }
  expect_same_bits(kept);
}

TEST(DemoModel, GivesTheSameBitsOnEveryKernelPath) {
  for (const KernelPath path : test::paths_here()) {
    SCOPED_TRACE(name(path));
    const LoadedModel loaded = load(2, path);
    const int64_t tokens = path == KernelPath::kPlain ? kFew : kTokens;
    expect_same_bits(alone(loaded, tokens, tokens), tokens);
  }
}

// Three forks of the first 520 tokens decode side by side; one goes on as the
// row alone does, and all read the same blocks.
TEST(DemoModel, GivesTheSameBitsInForksThatShareTheirPrefix) {
  constexpr int64_t kPrefix = 520;
  const LoadedModel& loaded = demo(2);
  const auto state = make_state(loaded, {});
  const auto tokens = random_tokens(kTokens, 1);
  const RowId row = state->add_row();
  Logits kept;
  feed(loaded, *state, {{row, kPrefix}}, {}, tokens, 0, kept);
  const RowId forks[] = {state->fork_row(row), state->fork_row(row)};
  for (int64_t done = kPrefix; done < kTokens; ++done) {
    feed(
        loaded,
        *state,
        {{forks[0], 1}, {forks[1], 2}, {row, 1}},
        random_tokens(3, static_cast<uint64_t>(done)),
        tokens,
        done,
        kept);
  }
  expect_same_bits(kept);
}

} // namespace
} // namespace holdfast
