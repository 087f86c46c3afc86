// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <stdexcept>

#include "tests/state/failing_codec.h"
#include "tests/state/layers.h"

namespace holdfast {
namespace {

using namespace test;

// How a step meets the failure.
enum class Way { kEvaluated, kCommitted, kCaughtThenCommitted };

void fail_a_step(State& state, RowId row, const Sequence& sequence, Way way) {
  const RowAppend append{row, 10};
  Step step = state.begin({&append, 1});
  const std::vector<Part> parts{{&sequence, 70, 10}};
  switch (way) {
    case Way::kEvaluated:
      EXPECT_THROW(run_layers(step, parts), std::exception);
      return; // the step's end rolls it back
    case Way::kCommitted:
      attend_layers(step, parts);
      EXPECT_THROW(step.commit_all(), std::exception);
      break;
    case Way::kCaughtThenCommitted:
      EXPECT_THROW(run_layers(step, parts), std::exception);
      expect_error(ErrorCode::kStale, [&] { step.commit_all(); });
      break;
  }
  expect_error(ErrorCode::kStale, [&] { step.commit_all(); });
}

TEST(Failure, InsideALayerLeavesTheRowsAsTheyWereAndUsable) {
  const Sequence sequence(80, 21);
  const Sequence wrong(80, 22);
  Failing codec;
  StateOptions with_codec = options();
  with_codec.precision.phases = always(&codec, &codec);
  State state(with_codec);
  const auto want = run_alone(state, sequence, {70, 10});
  const RowId row = state.add_row();
  append_to(state, row, {&sequence, 0, 70});
  const Bytes before = state.bytes();
  // 10 tokens of 2 heads: each layer encodes 20 keys, then 20 values.
  for (const int64_t first : {0, 7, 25, 40, 79, 119}) {
    for (const int64_t end : {first + 1, kNever}) {
      for (const Way way :
           {Way::kEvaluated, Way::kCommitted, Way::kCaughtThenCommitted}) {
        codec.fail(first, end);
        fail_a_step(state, row, wrong, way);
        codec.fail(kNever, kNever);
        ASSERT_EQ(state.length(row), Position(70));
        ASSERT_EQ(state.bytes(), before);
        const RowId fork = state.fork_row(row);
        const auto got = append_to(state, fork, {&sequence, 70, 10});
        ASSERT_TRUE(
            std::equal(got.begin(), got.end(), want.end() - std::ssize(got)))
            << "from call " << first << " on, way " << static_cast<int>(way);
        state.remove_row(fork);
      }
    }
  }
}

TEST(Failure, ARollbackWaitsForTheLayerAtWorkAndStopsTheRest) {
  const Sequence sequence(400, 26);
  const Sequence wrong(400, 27);
  State state(options());
  const auto want = run_alone(state, sequence, {70, 330});
  const RowId row = state.add_row();
  append_to(state, row, {&sequence, 0, 70});
  for (int round = 0; round < 20; ++round) {
    std::optional<mx::array> late;
    {
      const RowAppend append{row, 330};
      Step step = state.begin({&append, 1});
      late = attend_layers(step, {{&wrong, 70, 330}});
      mx::async_eval({*late});
    }
    const RowId fork = state.fork_row(row);
    const auto got = append_to(state, fork, {&sequence, 70, 330});
    ASSERT_TRUE(
        std::equal(got.begin(), got.end(), want.end() - std::ssize(got)));
    state.remove_row(fork);
  }
}

TEST(Failure, LeavesOtherStatesAlone) {
  const Sequence sequence(80, 23);
  Failing codec;
  StateOptions with_codec = options();
  with_codec.precision.phases = always(&codec, &codec);
  State failing(with_codec);
  State other(options());
  const RowId row = failing.add_row();
  append_to(failing, row, {&sequence, 0, 70});
  const auto want = run_alone(other, sequence, {80});
  codec.fail(0, kNever);
  fail_a_step(failing, row, sequence, Way::kCommitted);
  EXPECT_TRUE(same_bits(run_alone(other, sequence, {80}), want));
}

TEST(Failure, ReadsACodecWithoutAKernelThroughTheReferenceAndSaysWhy) {
  Failing codec;
  StateOptions with_codec = options();
  with_codec.precision.phases = always(&codec, &codec);
  const std::string text = State(with_codec).explain();
  EXPECT_NE(text.find(", got failing; stored as failing\n"), std::string::npos)
      << text;
  for (int layer = 0; layer < 3; ++layer) {
    const std::string line =
        "layer " + std::to_string(layer) + ": reference.1; not blocks.1: ";
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
}

TEST(Failure, TakesTheReadThatCoversEveryPhaseOfALayer) {
  Failing codec;
  StateOptions with_codec = options();
  with_codec.precision.layers[1] = with_codec.precision.phases;
  with_codec.precision.layers[1].push_back(
      {.keys = &codec, .values = &codec, .start = Position(64)});
  const std::string text = State(with_codec).explain();
  EXPECT_NE(text.find("layer 0: blocks.1; stored"), std::string::npos) << text;
  EXPECT_NE(text.find("layer 1: reference.1; not"), std::string::npos) << text;
  EXPECT_NE(text.find("bf16, then failing from 64"), std::string::npos) << text;
}

// A codec that fails while a row changes its precision: the row stays as it
// was, its neighbour goes on, and later both agree with rows that met no
// failure.
TEST(Failure, InsideAConversionLeavesTheRowDenseAndUsable) {
  const Sequence sequence(100, 28);
  Failing codec;
  StateOptions with_codec = options();
  with_codec.precision.phases.push_back(
      {.keys = &codec, .values = &codec, .start = Position(70)});
  State state(with_codec);
  const RowId plain = state.add_row();
  append_to(state, plain, {&sequence, 0, 70});
  const auto want = append_to(state, plain, {&sequence, 70, 30});
  const RowId row = state.add_row();
  const RowId neighbour = state.add_row();
  append_to(state, row, {&sequence, 0, 70});
  append_to(state, neighbour, {&sequence, 0, 10});
  // 70 tokens of 2 heads, keys and values, of three layers in two groups.
  for (const int64_t call : {0, 100, 300, 520}) {
    codec.fail(call, kNever);
    const std::vector<RowAppend> both{{row, 1}, {neighbour, 1}};
    EXPECT_THROW(state.begin(both), std::runtime_error);
    codec.fail(kNever, kNever);
    EXPECT_EQ(state.length(row), Position(70));
    const RowId fork = state.fork_row(row);
    EXPECT_TRUE(same_bits(append_to(state, fork, {&sequence, 70, 30}), want));
    state.remove_row(fork);
    const std::vector<int32_t> tokens(70);
    const RowId adopted = state.adopt(state.snapshot(row, tokens));
    EXPECT_TRUE(
        same_bits(append_to(state, adopted, {&sequence, 70, 30}), want));
    state.remove_row(adopted);
  }
  // By now a block is encoded, and stays so.
  EXPECT_EQ(state.reusable_floor(row), Position(70));
  expect_error(ErrorCode::kUnsupported, [&] { state.trim(row, Position(69)); });
  append_to(state, neighbour, {&sequence, 10, 60});
  EXPECT_TRUE(same_bits(append_to(state, row, {&sequence, 70, 30}), want));
  EXPECT_TRUE(
      same_bits(append_to(state, neighbour, {&sequence, 70, 30}), want));
}

TEST(Lifetime, AStepKeepsWhatItNeedsOfAStateThatIsGone) {
  const Sequence sequence(80, 24);
  std::optional<State> state(std::in_place, options());
  const auto want = run_alone(*state, sequence, {80});
  const RowAppend append{state->add_row(), 80};
  Step step = state->begin({&append, 1});
  auto out = attend_layers(step, {{&sequence, 0, 80}});
  state.reset();
  mx::eval({out});
  step.commit_all();
  EXPECT_TRUE(same_bits(values_of(out), want));
}

TEST(Lifetime, ArraysOfAStateAndAStepThatAreGoneRefuseToBeEvaluated) {
  const Sequence sequence(80, 25);
  for (const bool state_first : {false, true}) {
    std::optional<State> state(std::in_place, options());
    const RowAppend append{state->add_row(), 80};
    std::optional<Step> step(state->begin({&append, 1}));
    auto out = attend_layers(*step, {{&sequence, 0, 80}});
    if (state_first) {
      state.reset();
      step.reset();
    } else {
      step.reset();
      state.reset();
    }
    expect_error(ErrorCode::kStale, [&] { mx::eval({out}); });
  }
}

} // namespace
} // namespace holdfast
