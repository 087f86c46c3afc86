// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What is kept of a row follows from its tokens alone: the bytes of a tail do
// not depend on whose block it was copied from, on drafts that were not
// accepted, nor on what was undone. tests/conformance compares every codec.

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/state/hybrid.h"

namespace holdfast {
namespace {

using namespace test;

constexpr int64_t kShared = 10;
constexpr int64_t kOwn = 15; // tokens, of which the first are shared

/// The bytes of the last block of each layer group.
std::vector<std::string> tails(State& state, RowId row) {
  const std::vector<int32_t> tokens(
      static_cast<size_t>(state.length(row).get()));
  const Snapshot snapshot = state.snapshot(row, tokens);
  std::vector<std::string> result;
  for (const auto& blocks : snapshot.row().blocks) {
    const BlockRef& last = blocks.back();
    result.emplace_back(
        reinterpret_cast<const char*>(last.image()),
        static_cast<size_t>(last.bytes().get()));
  }
  return result;
}

/// As `of` up to that position.
Sequence branch(const Sequence& of, int64_t at, uint64_t seed) {
  Sequence result(std::ssize(of.q) / (kHeads * kDim), seed);
  for (const auto values : {&Sequence::q, &Sequence::k, &Sequence::v}) {
    const int64_t heads = values == &Sequence::q ? kHeads : kKvHeads;
    std::copy_n(
        (of.*values).begin(), at * heads * kDim, (result.*values).begin());
  }
  return result;
}

std::vector<std::string> cold(const char* codec, const Part& part) {
  State state(options(codec));
  const RowId row = state.add_row();
  append_to(state, row, part);
  return tails(state, row);
}

class TailBytes : public testing::TestWithParam<const char*> {
 protected:
  const Sequence theirs_{100, 81};
  const Sequence mine_ = branch(theirs_, kShared, 82);
  State state_{options(GetParam())};
};

TEST_P(TailBytes, HoldNothingOfTheTextWhoseBlockWasShared) {
  const RowId longer = state_.add_row();
  append_to(state_, longer, {&theirs_, 0, 60});
  const std::vector<int32_t> tokens(60);
  const Snapshot known = state_.snapshot(longer, tokens);
  for (const bool from_full : {false, true}) {
    RowId row = state_.adopt(known);
    if (from_full) { // and from a block that is full of it
      append_to(state_, row, {&theirs_, 60, 4});
    }
    state_.trim(row, Position(kShared));
    // Not even of a row that only shares.
    EXPECT_EQ(tails(state_, row), cold(GetParam(), {&mine_, 0, kShared}));
    append_to(state_, row, {&mine_, kShared, kOwn - kShared});
    EXPECT_EQ(tails(state_, row), cold(GetParam(), {&mine_, 0, kOwn}));
  }
  EXPECT_EQ(tails(state_, longer), cold(GetParam(), {&theirs_, 0, 60}));
}

TEST_P(TailBytes, HoldNothingOfDraftsThatWereNotAccepted) {
  const RowId row = state_.add_row();
  append_to(state_, row, {&mine_, 0, kOwn - 2});
  const RowAppend drafts{row, 20};
  {
    Step step = state_.begin({&drafts, 1});
    run_layers(step, {{&theirs_, kOwn, 20}});
  }
  Step step = state_.begin({&drafts, 1});
  run_layers(step, {{&mine_, kOwn - 2, 20}});
  step.commit(std::vector<int64_t>{2});
  EXPECT_EQ(tails(state_, row), cold(GetParam(), {&mine_, 0, kOwn}));
}

TEST_P(TailBytes, HoldNothingOfAnAnswerThatWasUndone) {
  const RowId row = state_.add_row();
  append_to(state_, row, {&mine_, 0, kOwn});
  append_to(state_, row, {&theirs_, kOwn, 40});
  state_.trim(row, Position(kOwn));
  EXPECT_EQ(tails(state_, row), cold(GetParam(), {&mine_, 0, kOwn}));
}

INSTANTIATE_TEST_SUITE_P(
    Codecs,
    TailBytes,
    testing::Values("bf16", "f16", "f32", "q8", "q4", "q3", "t8", "t4", "t3"));

TEST(TailBytes, ASnapshotDoesNotTouchABlockThatOthersRead) {
  const Sequence theirs(100, 83);
  State state(options());
  const RowId longer = state.add_row();
  append_to(state, longer, {&theirs, 0, 64});
  const RowId fork = state.fork_row(longer);
  state.trim(fork, Position(kShared));
  const std::vector<std::string> before = tails(state, longer);
  EXPECT_NE(tails(state, fork), before);
  EXPECT_EQ(tails(state, longer), before);
}

// A recurrent layer's tail has inputs, gates and a state that counts them.
TEST(TailBytes, OfARecurrentLayerHoldNothingBehindTheRowsPositions) {
  const Hybrid text(100);
  State alone(hybrid());
  const RowId eight = alone.add_row();
  text.append(alone, eight, 0, 5);
  text.append(alone, eight, 5, 3);
  State state(hybrid());
  const RowId row = state.add_row();
  text.append(state, row, 0, 5);
  const RowId fork = state.fork_row(row);
  text.append(state, fork, 5, 40);
  state.trim(fork, Position(5));
  const std::vector<std::string> five = tails(state, fork);
  text.append(state, fork, 5, 3);
  EXPECT_EQ(tails(state, fork), tails(alone, eight));
  text.append(state, row, 50, 20); // another way to a full block, and back
  text.append(state, row, 5, 40);
  state.trim(row, Position(5));
  EXPECT_EQ(tails(state, row), five);
}

TEST(TailBytes, AFullBlockOfARecurrentLayerHoldsNothingOfWhatWasUndone) {
  const Hybrid text(110);
  State state(hybrid());
  std::vector<std::string> full;
  for (const int64_t undone : {5, 50}) {
    const RowId row = state.add_row();
    state.keep_sealed(row, true);
    text.append(state, row, 0, 5);
    text.append(state, row, undone, 40);
    state.trim(row, Position(5));
    text.append(state, row, 5, 100); // ends in a later block
    for (const SealedBlock& sealed : state.take_sealed(row)) {
      if (sealed.group == 0) {
        full.emplace_back(
            reinterpret_cast<const char*>(sealed.block.image()),
            static_cast<size_t>(sealed.block.bytes().get()));
      }
    }
  }
  ASSERT_EQ(full.size(), 2u);
  EXPECT_EQ(full[0], full[1]);
}

} // namespace
} // namespace holdfast
