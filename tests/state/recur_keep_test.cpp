// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers that keep blocks to go back to: whatever length a row is
// trimmed to, and wherever it was moved before, what follows has the bits of a
// row that never was longer.

#include "tests/state/hybrid.h"

namespace holdfast {
namespace {

using test::expect_error;
using test::Hybrid;
using test::hybrid;
using test::kSpec;

constexpr int64_t kTokens = 330;

StateOptions keeping(int64_t every) {
  StateOptions options = hybrid();
  options.recurrent_keep_every = every;
  options.runtime.executor = std::make_shared<Executor>(1);
  return options;
}

/// A row of all tokens, in chunks of that many.
RowId fed(const Hybrid& model, State& state, int64_t chunk) {
  const RowId row = state.add_row();
  for (int64_t done = 0; done < kTokens; done += chunk) {
    model.append(state, row, done, std::min(chunk, kTokens - done));
  }
  return row;
}

class RecurKeep : public ::testing::Test {
 protected:
  RecurKeep() {
    State fresh(hybrid());
    cold = model.append(fresh, fresh.add_row(), 0, kTokens);
  }

  /// The outputs of a cold run from that position on.
  std::vector<float> tail(int64_t from) const {
    return {cold.begin() + from * kSpec.output_width(), cold.end()};
  }
  void expect_cold_behind(State& state, RowId row, int64_t from) const {
    state.trim(row, Position(from));
    EXPECT_TRUE(test::same_bits(
        tail(from), model.append(state, row, from, kTokens - from)))
        << from;
  }

  const Hybrid model{kTokens};
  std::vector<float> cold;
};

TEST_F(RecurKeep, ReplaysAColdRunBehindEveryLengthThatATrimMayLeave) {
  for (const int64_t chunk : {kTokens, int64_t{7}, int64_t{1}}) {
    State state(keeping(2));
    const RowId row = fed(model, state, chunk);
    int64_t possible = 0;
    for (int64_t to = 1; to < kTokens; ++to) {
      // Blocks 1 and 3, and the last one.
      const int64_t block = (to - 1) / kBlockTokens;
      const bool there = block == 1 || block == 3 || block == 5;
      ASSERT_EQ(state.reusable_length(row, Position(to)) == Position(to), there)
          << to;
      const RowId fork = state.fork_row(row);
      if (!there) {
        expect_error(
            ErrorCode::kUnsupported, [&] { state.trim(fork, Position(to)); });
      } else if (to % kBlockTokens < 2 || to % 19 == chunk % 19) {
        expect_cold_behind(state, fork, to);
        ++possible;
      }
      state.remove_row(fork);
    }
    EXPECT_GE(possible, 10); // else little was shown
    EXPECT_EQ(state.length(row), Position(kTokens));
  }
}

TEST_F(RecurKeep, GoesBackStepByStepAndForwardAgainWithOtherTokensBetween) {
  State state(keeping(1));
  const RowId row = fed(model, state, 64);
  for (const int64_t to : {300, 256, 255, 193, 129, 128, 64, 63, 1}) {
    state.trim(row, Position(to));
    // Others than follow in truth, over a block's end; a draft in part.
    model.append(state, row, 10, 70);
    const RowAppend append{row, 9};
    Step step = state.begin({&append, 1});
    auto out = step.recur(LayerIndex(0), model.weights(), model.inputs(40, 9));
    auto read = model.attend(step, 40, 9);
    test::mx::eval({out, read});
    step.commit(std::vector<int64_t>{4});
    state.trim(row, Position(to));
    const RowId fork = state.fork_row(row);
    expect_cold_behind(state, fork, to);
    state.remove_row(fork);
  }
}

TEST_F(RecurKeep, GoesBackInWhateverBatchTheRowIs) {
  for (const int64_t to : {70, 128, 250}) {
    State state(keeping(2));
    const RowId row = fed(model, state, 90);
    State extracted = state.extract({&row, 1});
    expect_cold_behind(extracted, extracted.rows()[0], to);
    State other = state.sibling();
    expect_cold_behind(other, other.merge(state, std::vector{row})[0], to);
    const RowId fork = state.fork_row(row);
    state.reorder(std::vector{fork, row});
    expect_cold_behind(other, other.take(state, std::vector{fork})[0], to);
    expect_cold_behind(state, row, to);
  }
}

TEST_F(RecurKeep, ServesPrefixesFromASnapshotInAnyStateOfItsSignature) {
  const std::vector<int32_t> tokens(kTokens, 5);
  std::optional<Snapshot> snapshot;
  {
    State state(keeping(2));
    const RowId row = fed(model, state, kTokens);
    snapshot = state.snapshot(row, tokens);
  }
  EXPECT_EQ(snapshot->reusable_floor(), Position(5 * 64 + 1));
  EXPECT_EQ(snapshot->reusable_length(Position(320)), Position(256));
  EXPECT_EQ(snapshot->reusable_length(Position(192)), Position(128));
  EXPECT_EQ(snapshot->reusable_length(Position(100)), Position(100));
  EXPECT_EQ(snapshot->reusable_length(Position(64)), Position(0));
  for (const int64_t every : {0, 1, 2, 3}) {
    State state(keeping(every));
    for (const int64_t to : {100, 128, 256, 325}) {
      const RowId row = state.adopt(*snapshot);
      EXPECT_EQ(state.reusable_length(row, Position(to)), Position(to));
      expect_cold_behind(state, row, to);
    }
    EXPECT_EQ(snapshot->row().bytes(), [&] {
      const RowId row = state.adopt(*snapshot);
      return state.retained_bytes(row);
    }());
  }
}

TEST_F(RecurKeep, IsNoPartOfTheSignatureButOfWhatAStateExplains) {
  const State none(keeping(0));
  const State every(keeping(4));
  EXPECT_EQ(none.signature(), every.signature());
  EXPECT_NE(
      every.explain().find("layer 0: recurrent.1; one block in 4 is kept\n"),
      std::string::npos)
      << every.explain();
  EXPECT_GT(every.bytes_per_token(), none.bytes_per_token());
  expect_error(ErrorCode::kInvalidArgument, [] { State(keeping(-1)); });
}

// The sliding layer beside it lost what a query far back would see.
TEST_F(RecurKeep, GoesBackNoFurtherThanASlidingLayerBesideIt) {
  StateOptions options = keeping(1);
  std::get<AttentionSpec>(options.layers[1]).visibility.window = 100;
  State state(options);
  const RowId row = fed(model, state, 50);
  // 330 - 100 lies in block 3: positions from 192 on are held.
  EXPECT_EQ(state.reusable_floor(row), Position(192 + 99));
  EXPECT_EQ(state.reusable_length(row, Position(290)), Position(0));
  expect_error(
      ErrorCode::kUnsupported, [&] { state.trim(row, Position(256)); });
  expect_cold_behind(state, row, 291);
}

TEST_F(RecurKeep, CostsAnImageAKeptBlockAndIsRefusedOverTheBudget) {
  State none(keeping(0));
  State every(keeping(1));
  const LayerGroups groups(std::vector<LayerState>{{{}, {}, kSpec}});
  const int64_t image = groups.image_bytes()[0].get();
  const RowId without = fed(model, none, 30);
  const RowId with = fed(model, every, 30);
  EXPECT_EQ(
      every.retained_bytes(with) - none.retained_bytes(without),
      Bytes(5 * image));
  const Bytes budget = every.retained_bytes(with) - Bytes(1);
  StateOptions tight = keeping(0);
  tight.max_bytes = budget;
  State narrow(tight);
  fed(model, narrow, 30);
  tight.recurrent_keep_every = 1;
  State small(tight);
  const RowId row = small.add_row();
  for (int64_t done = 0; done < 300; done += 30) {
    model.append(small, row, done, 30);
  }
  expect_error(
      ErrorCode::kOutOfBudget, [&] { model.append(small, row, 300, 30); });
  EXPECT_EQ(small.length(row), Position(300));
  small.trim(row, Position(64));
  EXPECT_TRUE(test::same_bits(
      {cold.begin() + 64 * kSpec.output_width(),
       cold.begin() + 160 * kSpec.output_width()},
      model.append(small, row, 64, 96)));
}

} // namespace
} // namespace holdfast
