// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Rows between steps: what each verb of State leaves behind, in bits.

#include <optional>
#include <random>

#include "tests/state/layers.h"

namespace holdfast {
namespace {

using namespace test;
using Ids = std::vector<RowId>;

std::vector<float> tail_of(const std::vector<float>& all, int64_t first) {
  return {all.begin() + first * kHeads * kDim, all.end()};
}

Ids ids_of(const State& state) {
  return {state.rows().begin(), state.rows().end()};
}

TEST(StateRows, GoOnWithTheSameBitsWhereverTheyAre) {
  const Sequence a(150, 41);
  const Sequence b(150, 42);
  State state(options());
  const auto want_a = tail_of(run_alone(state, a, {70, 80}), 70);
  const auto want_b = tail_of(run_alone(state, b, {130, 20}), 130);
  state.filter(Ids{});
  const RowId row_a = state.add_row();
  const RowId row_b = state.add_row();
  append_to(state, row_a, {&a, 0, 70});
  append_to(state, row_b, {&b, 0, 130});

  State beside = state.extract(Ids{row_b, row_a});
  EXPECT_EQ(beside.length(beside.rows()[0]), Position(130));
  EXPECT_EQ(ids_of(state), (Ids{row_a, row_b})); // still here
  const Ids merged = state.merge(beside, beside.rows());
  EXPECT_EQ(ids_of(state), (Ids{row_a, row_b, merged[0], merged[1]}));
  State third = state.sibling();
  const Ids taken = third.take(state, Ids{row_a, row_b});
  EXPECT_EQ(ids_of(state), merged);

  EXPECT_TRUE(same_bits(append_to(third, taken[0], {&a, 70, 80}), want_a));
  EXPECT_TRUE(same_bits(append_to(third, taken[1], {&b, 130, 20}), want_b));
  EXPECT_TRUE(same_bits(append_to(state, merged[0], {&b, 130, 20}), want_b));
  EXPECT_TRUE(same_bits(append_to(state, merged[1], {&a, 70, 80}), want_a));
  const RowId last = beside.rows()[1];
  EXPECT_TRUE(same_bits(append_to(beside, last, {&a, 70, 80}), want_a));
}

TEST(StateRows, OfSiblingsMayEachHaveAStepOpen) {
  const Sequence a(80, 43);
  State state(options());
  const auto want = run_alone(state, a, {80});
  State beside = state.sibling();
  const RowAppend mine{state.add_row(), 80};
  const RowAppend theirs{beside.add_row(), 80};
  Step one = state.begin({&mine, 1});
  Step two = beside.begin({&theirs, 1});
  auto first = attend_layers(one, {{&a, 0, 80}});
  auto second = attend_layers(two, {{&a, 0, 80}});
  mx::eval({first, second});
  two.commit_all();
  one.commit_all();
  EXPECT_TRUE(same_bits(values_of(first), want));
  EXPECT_TRUE(same_bits(values_of(second), want));
}

TEST(StateRows, ShareOneBudgetWithTheirSiblings) {
  const Sequence a(64, 44);
  State probe(options());
  run_alone(probe, a, {64});
  StateOptions small = options();
  small.max_bytes = probe.bytes();
  State state(small);
  append_to(state, state.add_row(), {&a, 0, 64});
  State beside = state.sibling();
  const RowAppend more{beside.add_row(), 1};
  expect_error(ErrorCode::kOutOfBudget, [&] { beside.begin({&more, 1}); });
  state.filter(Ids{});
  beside.begin({&more, 1}).rollback();
}

TEST(StateRows, OutliveTheStateTheyWereTakenFrom) {
  const Sequence a(150, 45);
  std::optional<State> state(std::in_place, options());
  const auto want = tail_of(run_alone(*state, a, {70, 80}), 70);
  const RowId row = state->add_row();
  append_to(*state, row, {&a, 0, 70});
  State beside = state->extract(Ids{row});
  state.reset();
  const RowId kept = beside.rows()[0];
  EXPECT_TRUE(same_bits(append_to(beside, kept, {&a, 70, 80}), want));
}

TEST(StateRows, OfStrangersAreRefused) {
  State state(options());
  State other(options());
  const RowId row = other.add_row();
  expect_error(
      ErrorCode::kInvalidArgument, [&] { state.merge(other, Ids{row}); });
  expect_error(
      ErrorCode::kInvalidArgument, [&] { state.take(other, Ids{row}); });
  expect_error(ErrorCode::kInvalidArgument, [&] { state.take(state, Ids{}); });
  EXPECT_TRUE(state.rows().empty());
}

// The longest row of a ragged batch leaves first.
TEST(StateRows, AreUntouchedWhenTheLongestLeaves) {
  for (const char* codec : {"bf16", "f32"}) {
    const Sequence longest(150, 46);
    const Sequence shorter(150, 47);
    State state(options(codec));
    const auto want = run_alone(state, shorter, {60, 3, 40});
    state.filter(Ids{});
    const RowId first = state.add_row();
    const RowId second = state.add_row();
    const std::vector<RowAppend> both{{first, 70}, {second, 60}};
    {
      Step step = state.begin(both);
      run_layers(step, {{&longest, 0, 70}, {&shorter, 0, 60}});
      step.commit_all();
    }
    const auto before = state.fetch(second, LayerIndex(0));
    state.filter(Ids{second});
    const auto after = state.fetch(second, LayerIndex(0));
    EXPECT_TRUE(same_bits(before.keys, after.keys));
    const auto out = append_to(state, second, {&shorter, 60, 3});
    EXPECT_TRUE(
        std::equal(out.begin(), out.end(), want.begin() + 60 * kHeads * kDim));
    EXPECT_EQ(state.length(second), Position(63));
  }
}

// Rows that were filled alone keep their own next positions.
TEST(StateRows, KeepTheirOwnPositionsWhenMerged) {
  const Sequence a(40, 48);
  State state(options());
  const RowId longer = state.add_row();
  append_to(state, longer, {&a, 0, 30});
  State other = state.sibling();
  const RowId shorter = other.add_row();
  append_to(other, shorter, {&a, 0, 25});
  const Ids merged = state.merge(other, Ids{shorter});
  const std::vector<RowAppend> both{{longer, 1}, {merged[0], 1}};
  const Step step = state.begin(both);
  const auto positions = step.positions();
  EXPECT_EQ(positions.data<int32_t>()[0], 30);
  EXPECT_EQ(positions.data<int32_t>()[1], 25);
}

// Positions handed out before a step ends are values.
TEST(StateRows, NeverChangePositionsThatWereHandedOut) {
  const Sequence a(40, 49);
  State state(options());
  const RowId row = state.add_row();
  append_to(state, row, {&a, 0, 5});
  std::optional<mx::array> positions;
  {
    const RowAppend append{row, 3};
    Step step = state.begin({&append, 1});
    positions = step.positions();
    run_layers(step, {{&a, 5, 3}});
    step.commit_all();
  }
  append_to(state, row, {&a, 8, 20});
  state.filter(Ids{});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(positions->data<int32_t>()[i], 5 + i);
  }
}

} // namespace
} // namespace holdfast
