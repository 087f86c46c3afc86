// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Rows made of stored blocks: at every kind of length they go on as a cold run
// does, whatever the last block holds behind that length.

#include <cmath>
#include <numeric>

#include "tests/state/layers.h"
#include "tests/state/stored_blocks.h"

namespace holdfast {
namespace {

using namespace test;

// The same vectors up to `length`, and from there on none that a result could
// survive.
Sequence poisoned(const Sequence& of, int64_t length) {
  Sequence result = of;
  for (auto* values : {&result.q, &result.k, &result.v}) {
    const int64_t heads = values == &result.q ? kHeads : kKvHeads;
    std::fill(values->begin() + length * heads * kDim, values->end(), NAN);
  }
  return result;
}

// What a row of `a` leaves, fed in chunks that end at the start of a phase.
StoredBlocks store(State& state, const Sequence& a, int64_t length) {
  StoredBlocks stored;
  const RowId row = state.add_row();
  state.keep_sealed(row, true);
  while (state.length(row) < Position(length)) {
    const int64_t done = state.length(row).get();
    const int64_t count =
        std::min({int64_t{90}, length - done, state.max_append(row)});
    append_to(state, row, {&a, done, count});
    stored.take(state, row);
  }
  state.remove_row(row);
  return stored;
}

std::vector<float> go_on(State& state, RowId row, const Sequence& with) {
  std::vector<float> all;
  for (int i = 0; i < 3; ++i) {
    const int64_t count = std::min<int64_t>(30, state.max_append(row));
    const auto out =
        append_to(state, row, {&with, state.length(row).get(), count});
    all.insert(all.end(), out.begin(), out.end());
  }
  return all;
}

void expect_as_cold(
    const StateOptions& options,
    int64_t length,
    const std::vector<int64_t>& phases) {
  SCOPED_TRACE(length);
  const Sequence a(300, 5);
  const Sequence after(400, 6);
  State state(options);
  const StoredBlocks stored = store(state, poisoned(a, length), 300);
  EXPECT_EQ(state.bytes(), Bytes(0));

  const RowId cold = state.add_row();
  while (state.length(cold) < Position(length)) {
    const int64_t done = state.length(cold).get();
    append_to(
        state,
        cold,
        {&a, done, std::min(length - done, state.max_append(cold))});
  }
  const auto want = go_on(state, cold, after);
  const RowId row = stored.adopt(state, {Position(length), phases});
  EXPECT_TRUE(same_bits(go_on(state, row, after), want));
}

TEST(Assemble, GoesOnAsAColdRunInEveryCodecAtEveryKindOfLength) {
  for (const char* codec : {"bf16", "f32", "q8", "q4", "t4", "t3"}) {
    SCOPED_TRACE(codec);
    for (const int64_t length : {1, 20, 63, 64, 65, 84, 127, 128, 200, 256}) {
      expect_as_cold(options(codec), length, {0, 0});
    }
  }
}

TEST(Assemble, ServesEveryLengthInThePhaseThatAColdRunHasThere) {
  StateOptions changing = options();
  changing.precision.phases.push_back(
      {.keys = find_codec("q4").value(),
       .values = find_codec("t3").value(),
       .start = Position(100)});
  for (const int64_t length : {1, 64, 99, 100}) {
    expect_as_cold(changing, length, {0, 0});
  }
  for (const int64_t length : {100, 101, 128, 130, 256}) {
    expect_as_cold(changing, length, {1, 1});
  }
}

TEST(Assemble, RefusesAPhaseThatNoColdRunHasAtThatLength) {
  StateOptions changing = options();
  changing.precision.phases.push_back(
      {.keys = find_codec("q8").value(),
       .values = find_codec("q8").value(),
       .start = Position(100)});
  State state(changing);
  const StoredBlocks stored = store(state, Sequence(300, 5), 300);
  const Bytes before = state.bytes();
  for (const ChainFacts& facts :
       {ChainFacts{Position(99), {1, 1}},
        ChainFacts{Position(101), {0, 0}},
        ChainFacts{Position(120), {2, 1}},
        ChainFacts{Position(120), {1, -1}},
        ChainFacts{Position(120), {1}},
        ChainFacts{Position(-1), {0, 0}}}) {
    expect_error(ErrorCode::kInvalidArgument, [&] {
      Chain::restored(state.groups().rules(), kBlockTokens, facts);
    });
  }
  EXPECT_EQ(state.bytes(), before);
  EXPECT_TRUE(state.rows().empty());
}

TEST(Assemble, RefusesBlocksThatAreMissingOpenOrOfAnotherNumber) {
  State state(options());
  const RowId row = state.add_row();
  state.keep_sealed(row, true);
  const Sequence a(128, 5);
  append_to(state, row, {&a, 0, 128});
  std::vector<std::vector<BlockRef>> held(2);
  for (const SealedBlock& sealed : state.take_sealed(row)) {
    held[static_cast<size_t>(sealed.group)].push_back(sealed.block);
  }
  const std::vector<int32_t> tokens(128);
  const ChainFacts facts{Position(128), {0, 0}};
  const auto refused = [&](const auto& with) {
    expect_error(ErrorCode::kInvalidArgument, [&] {
      state.assemble(tokens, facts, with);
    });
  };
  refused(held); // a window of 20 holds the last block alone
  held[1].erase(held[1].begin());
  state.assemble(tokens, facts, held);
  auto other = held;
  other[0].pop_back();
  refused(other);
  other = held;
  other[0][0] = BlockRef();
  refused(other);
  refused(std::vector<std::vector<BlockRef>>(1));
}

// At the length of a change both phases are possible; the blocks are of one.
TEST(Assemble, RefusesBlocksOfAnotherGroupOrPhase) {
  StateOptions changing = options();
  changing.precision.phases.push_back(
      {.keys = find_codec("q8").value(),
       .values = find_codec("q8").value(),
       .start = Position(128)});
  State state(changing);
  const RowId row = state.add_row();
  const Sequence a(128, 5);
  append_to(state, row, {&a, 0, 128});
  const std::vector<int32_t> tokens(128);
  const Snapshot snapshot = state.snapshot(row, tokens);
  std::vector<std::vector<BlockRef>> held = snapshot.row().blocks;
  std::erase(held[1], BlockRef());
  held[1].erase(held[1].begin(), held[1].end() - 1); // of a window of 20
  state.assemble(tokens, {Position(128), {0, 0}}, held);
  for (const ChainFacts& facts :
       {ChainFacts{Position(128), {1, 0}}, ChainFacts{Position(128), {0, 1}}}) {
    expect_error(ErrorCode::kInvalidArgument, [&] {
      state.assemble(tokens, facts, held);
    });
  }
  held[1][0] = held[0][0];
  expect_error(ErrorCode::kInvalidArgument, [&] {
    state.assemble(tokens, {Position(128), {0, 0}}, held);
  });
}

TEST(Assemble, SharesStoredImagesAndCopiesTheLastAlone) {
  const Sequence a(300, 5);
  State state(options());
  const StoredBlocks stored = store(state, a, 300);
  EXPECT_EQ(state.bytes(), Bytes(0));
  const RowId row = stored.adopt(state, {Position(200), {0, 0}});
  EXPECT_EQ(state.bytes(), Bytes(0)); // all of it lies in foreign memory
  append_to(state, row, {&a, 200, 1});
  const auto images = state.groups().image_bytes();
  EXPECT_EQ(state.bytes(), images[0] + images[1]); // a tail a group
}

} // namespace
} // namespace holdfast
