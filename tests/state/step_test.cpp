// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstring>
#include <optional>

#include "tests/state/layers.h"

namespace holdfast {
namespace {

using namespace test;

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
    EXPECT_LT(worst_difference(got, want), bound) << codec;
  }
}

TEST(Step, LeavesTheSameBitsAfterARolledBackDraftEvenOfNoNumbers) {
  const Sequence sequence(120, 5);
  Sequence draft(120, 6);
  for (size_t i = 0; i < draft.k.size(); i += 3) {
    draft.k[i] = NAN;
    draft.v[i] = i % 2 == 0 ? NAN : INFINITY;
  }
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
    const auto out = append_to(state, row, {&sequence, done, 8});
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
  expect_error(ErrorCode::kStale, [&] { mx::eval({*late}); });
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
  expect_error(ErrorCode::kInvalidArgument, [&] { step.commit_all(); });
  EXPECT_EQ(state.length(row), Position(0));
  EXPECT_EQ(state.bytes(), Bytes(0));
  expect_error(ErrorCode::kStale, [&] { step.commit_all(); }); // rolled back
}

TEST(Step, StaysOpenWhenItsCountsAreRefused) {
  const Sequence sequence(10, 13);
  State state(options());
  const RowId row = state.add_row();
  const RowAppend append{row, 10};
  Step step = state.begin({&append, 1});
  run_layers(step, {{&sequence, 0, 10}});
  for (const std::vector<int64_t>& counts :
       {std::vector<int64_t>{}, {11}, {-1}, {1, 1}}) {
    expect_error(ErrorCode::kInvalidArgument, [&] { step.commit(counts); });
  }
  step.commit(std::vector<int64_t>{7});
  EXPECT_EQ(state.length(row), Position(7));
}

TEST(Step, RefusesWrongShapesAndASecondAttend) {
  const Sequence sequence(10, 10);
  State state(options());
  const RowAppend append{state.add_row(), 4};
  Step step = state.begin({&append, 1});
  const auto q = gather({{&sequence, 0, 4}}, &Sequence::q, kHeads);
  const auto k = gather({{&sequence, 0, 4}}, &Sequence::k, kKvHeads);
  const auto long_k = gather({{&sequence, 0, 5}}, &Sequence::k, kKvHeads);
  const auto refuses = [&](int64_t layer, const auto& q, const auto& k) {
    expect_error(ErrorCode::kInvalidArgument, [&] {
      step.attend(LayerIndex(layer), q, k, k);
    });
  };
  refuses(0, q, long_k);
  refuses(0, k, k);
  refuses(3, q, k);
  refuses(-1, q, k);
  step.attend(LayerIndex(0), q, k, k);
  refuses(0, q, k);
}

TEST(Step, RefusesAnAppendBeyondTheBudgetAndGoesOn) {
  const Sequence sequence(200, 11);
  StateOptions small = options();
  State probe(options());
  run_alone(probe, sequence, {64});
  small.max_bytes = probe.bytes() + probe.bytes();
  State state(small);
  const RowId row = state.add_row();
  append_to(state, row, {&sequence, 0, 100});
  const Bytes before = state.bytes();
  const RowAppend grows{row, 60};
  expect_error(ErrorCode::kOutOfBudget, [&] { state.begin({&grows, 1}); });
  EXPECT_EQ(state.bytes(), before);
  EXPECT_EQ(state.length(row), Position(100));
  append_to(state, row, {&sequence, 100, 28});
  EXPECT_EQ(state.length(row), Position(128));
}

TEST(State, ForksShareBlocksAndGiveTheSameBits) {
  const Sequence sequence(150, 12);
  State state(options());
  const auto alone = run_alone(state, sequence, {100, 50});
  const RowId row = state.add_row();
  append_to(state, row, {&sequence, 0, 100});
  const RowId fork = state.fork_row(row);
  for (const RowId each : {fork, row}) {
    const auto out = append_to(state, each, {&sequence, 100, 50});
    EXPECT_EQ(
        std::memcmp(
            out.data(),
            alone.data() + 100 * kHeads * kDim,
            out.size() * sizeof(float)),
        0);
  }
}

TEST(State, NamesTheLayerAndTheCodecThatDoesNotFit) {
  StateOptions odd = options();
  std::get<AttentionSpec>(odd.layers[1]).key_dim = 72;
  const std::string text =
      expect_error(ErrorCode::kUnsupported, [&] { State state(odd); });
  for (const char* part : {"layer 1", "[bf16]", "got 72"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

} // namespace
} // namespace holdfast
