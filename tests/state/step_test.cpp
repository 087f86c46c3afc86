// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "mlx/mlx.h"

#include "holdfast/base/check.h"
#include "holdfast/state/state.h"

namespace holdfast {
namespace {

namespace mx = mlx::core;

constexpr int64_t kHeads = 4;
constexpr int64_t kKvHeads = 2;
constexpr int64_t kDim = 64;

StateOptions options(const char* codec = "bf16", int threads = 2) {
  StateOptions options;
  for (int64_t window : {0, 20, 20}) {
    options.layers.push_back(
        {.query_heads = kHeads,
         .kv_heads = kKvHeads,
         .key_dim = kDim,
         .value_dim = kDim,
         .scale = 0.125f,
         .softcap = 0.0f,
         .visibility = {.window = window},
         .sink_logits = {}});
  }
  options.keys = find_codec(codec).value();
  options.values = options.keys;
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

mx::array gather(
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

// All layers' outputs of a step, chained so that the last depends on each: a
// layer's queries are the outputs before it.
std::vector<float> run_layers(Step& step, const std::vector<Part>& parts) {
  const auto k = gather(parts, &Sequence::k, kKvHeads);
  const auto v = gather(parts, &Sequence::v, kKvHeads);
  auto x = gather(parts, &Sequence::q, kHeads);
  for (int64_t layer = 0; layer < 3; ++layer) {
    x = step.attend(LayerIndex(layer), x, k, v);
  }
  mx::eval({x});
  return {x.data<float>(), x.data<float>() + x.size()};
}

// The outputs of a sequence alone, in the given chunks.
std::vector<float>
run_alone(State& state, const Sequence& sequence, std::vector<int64_t> chunks) {
  const RowId row = state.add_row();
  std::vector<float> all;
  int64_t done = 0;
  for (const int64_t count : chunks) {
    const RowAppend append{row, count};
    Step step = state.begin({&append, 1});
    const auto out = run_layers(step, {{&sequence, done, count}});
    step.commit_all();
    all.insert(all.end(), out.begin(), out.end());
    done += count;
  }
  return all;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
      std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<int64_t> chunks_of(int64_t length, int64_t chunk) {
  std::vector<int64_t> chunks;
  for (; length > 0; length -= chunk) {
    chunks.push_back(std::min(chunk, length));
  }
  return chunks;
}

TEST(Step, GivesTheSameBitsInAnyChunksAndThreads) {
  for (const char* codec : {"bf16", "f16", "f32"}) {
    const Sequence sequence(200, 1);
    State state(options(codec));
    const auto whole = run_alone(state, sequence, {200});
    for (const int64_t chunk : {1, 7, 63, 64, 65, 130}) {
      EXPECT_TRUE(
          same_bits(whole, run_alone(state, sequence, chunks_of(200, chunk))))
          << codec << " chunk " << chunk;
    }
    for (const int threads : {1, 3}) {
      State other(options(codec, threads));
      EXPECT_TRUE(same_bits(whole, run_alone(other, sequence, {150, 50})))
          << codec << " threads " << threads;
    }
  }
}

TEST(Step, GivesTheSameBitsBesideNeighboursThatComeAndGo) {
  const Sequence mine(150, 2);
  const Sequence other(150, 3);
  State state(options());
  const auto alone = run_alone(state, mine, chunks_of(150, 10));
  const RowId row = state.add_row();
  RowId neighbour = state.add_row();
  std::vector<float> got;
  int64_t theirs = 0;
  for (int64_t done = 0; done < 150; done += 10) {
    const int64_t count = 1 + done % 17;
    if (theirs + count > 150 || done == 70) {
      state.remove_row(neighbour);
      neighbour = state.add_row();
      theirs = 0;
    }
    const bool first = done % 20 == 0; // the order changes too
    const std::vector<RowAppend> rows = first
        ? std::vector<RowAppend>{{row, 10}, {neighbour, count}}
        : std::vector<RowAppend>{{neighbour, count}, {row, 10}};
    Step step = state.begin(rows);
    const Part me{&mine, done, 10};
    const Part them{&other, theirs, count};
    const auto out = run_layers(
        step,
        first ? std::vector<Part>{me, them} : std::vector<Part>{them, me});
    step.commit_all();
    const auto begin = out.begin() + (first ? 0 : count * kHeads * kDim);
    got.insert(got.end(), begin, begin + 10 * kHeads * kDim);
    theirs += count;
  }
  EXPECT_TRUE(same_bits(alone, got));
}

TEST(Step, AgreesWithTheReferenceRead) {
  const Sequence sequence(150, 4);
  for (const auto& [codec, bound] :
       {std::pair{"f32", 2e-5f},
        std::pair{"f16", 1e-3f},
        std::pair{"bf16", 2e-2f}}) {
    State state(options(codec));
    StateOptions plain = options(codec);
    plain.reference_read = true;
    State reference(plain);
    EXPECT_EQ(reference.explain().substr(0, 20), "layer 0: reference.1");
    const auto got = run_alone(state, sequence, {100, 30, 20});
    const auto want = run_alone(reference, sequence, {70, 80});
    float worst = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      worst = std::max(worst, std::abs(got[i] - want[i]));
    }
    EXPECT_LT(worst, bound) << codec;
  }
}

TEST(Step, LeavesTheSameBitsAfterARolledBackDraft) {
  const Sequence sequence(120, 5);
  const Sequence draft(120, 6);
  State state(options());
  const auto alone = run_alone(state, sequence, chunks_of(120, 8));
  const RowId row = state.add_row();
  const RowAppend append{row, 8};
  std::vector<float> got;
  for (int64_t done = 0; done < 120; done += 8) {
    {
      Step wrong = state.begin({&append, 1});
      run_layers(wrong, {{&draft, done, 8}});
      if (done % 16 == 0) {
        const int64_t none = 0;
        wrong.commit({&none, 1});
      }
    }
    EXPECT_EQ(state.length(row), Position(done));
    Step step = state.begin({&append, 1});
    const auto out = run_layers(step, {{&sequence, done, 8}});
    step.commit_all();
    got.insert(got.end(), out.begin(), out.end());
  }
  EXPECT_TRUE(same_bits(alone, got));
}

TEST(Step, KeepsOnlyTheAcceptedTokens) {
  const Sequence sequence(60, 7);
  State state(options());
  const auto alone = run_alone(state, sequence, chunks_of(60, 1));
  const RowId row = state.add_row();
  const RowAppend append{row, 5};
  for (int64_t done = 0; done + 5 <= 60; done += 2) {
    Step step = state.begin({&append, 1});
    const auto out = run_layers(step, {{&sequence, done, 5}});
    const int64_t accepted = 2;
    step.commit({&accepted, 1});
    EXPECT_EQ(
        std::memcmp(
            out.data(),
            alone.data() + done * kHeads * kDim,
            5 * kHeads * kDim * sizeof(float)),
        0);
  }
}

TEST(Step, RefusesArraysOfAnEndedStep) {
  const Sequence sequence(10, 8);
  State state(options());
  const RowId row = state.add_row();
  const RowAppend append{row, 10};
  const auto q = gather({{&sequence, 0, 10}}, &Sequence::q, kHeads);
  const auto k = gather({{&sequence, 0, 10}}, &Sequence::k, kKvHeads);
  const auto v = gather({{&sequence, 0, 10}}, &Sequence::v, kKvHeads);
  std::optional<mx::array> late;
  {
    Step step = state.begin({&append, 1});
    late = step.attend(LayerIndex(0), q, k, v);
  }
  EXPECT_THROW(mx::eval({*late}), std::exception);
  Step step = state.begin({&append, 1});
  EXPECT_FALSE(run_layers(step, {{&sequence, 0, 10}}).empty());
  step.commit_all();
  EXPECT_EQ(state.length(row), Position(10));
}

TEST(Step, RefusesACommitThatLeavesALayerOut) {
  const Sequence sequence(10, 9);
  State state(options());
  const RowId row = state.add_row();
  const RowAppend append{row, 10};
  Step step = state.begin({&append, 1});
  step.attend(
      LayerIndex(1),
      gather({{&sequence, 0, 10}}, &Sequence::q, kHeads),
      gather({{&sequence, 0, 10}}, &Sequence::k, kKvHeads),
      gather({{&sequence, 0, 10}}, &Sequence::v, kKvHeads));
  EXPECT_THROW(step.commit_all(), Error);
  EXPECT_EQ(state.length(row), Position(0));
  EXPECT_EQ(state.bytes(), Bytes(0));
  EXPECT_THROW(step.commit_all(), Error); // it was rolled back
}

TEST(Step, RefusesWrongShapesAndASecondAttend) {
  const Sequence sequence(10, 10);
  State state(options());
  const RowAppend append{state.add_row(), 4};
  Step step = state.begin({&append, 1});
  const auto q = gather({{&sequence, 0, 4}}, &Sequence::q, kHeads);
  const auto k = gather({{&sequence, 0, 4}}, &Sequence::k, kKvHeads);
  const auto long_k = gather({{&sequence, 0, 5}}, &Sequence::k, kKvHeads);
  EXPECT_THROW(step.attend(LayerIndex(0), q, long_k, k), Error);
  EXPECT_THROW(step.attend(LayerIndex(0), k, k, k), Error);
  EXPECT_THROW(step.attend(LayerIndex(3), q, k, k), Error);
  step.attend(LayerIndex(0), q, k, k);
  EXPECT_THROW(step.attend(LayerIndex(0), q, k, k), Error);
}

TEST(Step, RefusesAnAppendBeyondTheBudgetAndGoesOn) {
  const Sequence sequence(200, 11);
  StateOptions small = options();
  State probe(options());
  run_alone(probe, sequence, {64});
  small.max_bytes = probe.bytes() + probe.bytes();
  State state(small);
  const RowId row = state.add_row();
  const RowAppend fits{row, 100};
  {
    Step step = state.begin({&fits, 1});
    run_layers(step, {{&sequence, 0, 100}});
    step.commit_all();
  }
  const Bytes before = state.bytes();
  const RowAppend grows{row, 60};
  try {
    state.begin({&grows, 1});
    FAIL() << "expected a refusal";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kOutOfBudget);
  }
  EXPECT_EQ(state.bytes(), before);
  EXPECT_EQ(state.length(row), Position(100));
  const RowAppend still_fits{row, 28};
  Step step = state.begin({&still_fits, 1});
  run_layers(step, {{&sequence, 100, 28}});
  step.commit_all();
  EXPECT_EQ(state.length(row), Position(128));
}

TEST(State, ForksShareBlocksAndGiveTheSameBits) {
  const Sequence sequence(150, 12);
  State state(options());
  const auto alone = run_alone(state, sequence, {100, 50});
  const RowId row = state.add_row();
  const RowAppend head{row, 100};
  {
    Step step = state.begin({&head, 1});
    run_layers(step, {{&sequence, 0, 100}});
    step.commit_all();
  }
  const RowId fork = state.fork_row(row);
  for (const RowId each : {fork, row}) {
    const RowAppend tail{each, 50};
    Step step = state.begin({&tail, 1});
    const auto out = run_layers(step, {{&sequence, 100, 50}});
    step.commit_all();
    EXPECT_EQ(
        std::memcmp(
            out.data(),
            alone.data() + 100 * kHeads * kDim,
            out.size() * sizeof(float)),
        0);
  }
}

TEST(State, NamesTheLayerAndCodecItCannotRead) {
  StateOptions odd = options();
  odd.layers[1].key_dim = 72;
  odd.layers[1].value_dim = 72;
  try {
    State state(odd);
    // The reference read covers any size a codec stores.
    EXPECT_NE(state.explain().find("layer 1: reference.1"), std::string::npos);
    EXPECT_NE(state.explain().find("not blocks.1"), std::string::npos);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  }
}

} // namespace
} // namespace holdfast
