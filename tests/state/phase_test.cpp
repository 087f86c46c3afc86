// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <random>

#include "holdfast/base/bits.h"
#include "tests/state/layers.h"

namespace holdfast {
namespace {

using namespace test;

const Codec* codec(const char* name) {
  return find_codec(name).value();
}

// `before` until `start`, then keys and values of those codecs.
StateOptions changing(
    int64_t start,
    const char* keys = "bf16",
    const char* values = "bf16",
    const char* before = "f32") {
  StateOptions result = options(before);
  result.precision.phases.push_back(
      {.keys = codec(keys), .values = codec(values), .start = Position(start)});
  return result;
}

// The layers differ: one changes twice, one never, one as the others do.
StateOptions ragged() {
  StateOptions result = changing(70);
  result.precision.layers[0] = {
      {.keys = codec("f32"), .values = codec("f32")},
      {.keys = codec("f16"), .values = codec("bf16"), .start = Position(40)},
      {.keys = codec("bf16"), .values = codec("bf16"), .start = Position(130)}};
  result.precision.layers[2] = always(codec("f16"), codec("f16"));
  return result;
}

// Appends [first, last) in chunks that end where the precision changes.
std::vector<float> feed(
    State& state,
    RowId row,
    const Sequence& sequence,
    int64_t first,
    int64_t last,
    int64_t chunk) {
  std::vector<float> all;
  while (first < last) {
    const int64_t count =
        std::min({chunk, last - first, state.max_append(row)});
    const auto out = append_to(state, row, {&sequence, first, count});
    all.insert(all.end(), out.begin(), out.end());
    first += count;
  }
  return all;
}

std::vector<float> tail_of(const std::vector<float>& all, int64_t first) {
  return {all.begin() + first * kHeads * kDim, all.end()};
}

TEST(Phases, GiveTheSameBitsInAnyChunks) {
  const Sequence sequence(200, 31);
  for (const StateOptions& with :
       {changing(100),
        changing(64, "f16", "bf16"),
        changing(100, "q8", "t3", "bf16"),
        changing(77, "t4", "q4g32", "bf16"),
        ragged()}) {
    State state(with);
    const auto whole = feed(state, state.add_row(), sequence, 0, 200, 200);
    for (const int64_t chunk : {1, 7, 64, 130}) {
      const RowId row = state.add_row();
      EXPECT_TRUE(same_bits(whole, feed(state, row, sequence, 0, 200, chunk)))
          << chunk;
    }
  }
}

// A converted row holds what one that never was in the first phase holds.
void expect_same_store(
    const char* before,
    const char* keys,
    const char* values) {
  const Sequence sequence(150, 32);
  State state(changing(100, keys, values, before));
  StateOptions last = options();
  last.precision.phases = always(codec(keys), codec(values));
  State plain(last);
  const RowId row = state.add_row();
  const RowId same = plain.add_row();
  feed(state, row, sequence, 0, 150, 50);
  feed(plain, same, sequence, 0, 150, 50);
  for (int64_t layer = 0; layer < 3; ++layer) {
    const auto got = state.fetch(row, LayerIndex(layer));
    const auto want = plain.fetch(same, LayerIndex(layer));
    EXPECT_EQ(got.positions, want.positions);
    EXPECT_TRUE(same_bits(got.keys, want.keys));
    EXPECT_TRUE(same_bits(got.values, want.values));
  }
}

TEST(Phases, StoreFromTheStartWhatARowOfTheLastPhaseAloneStores) {
  struct Case {
    const char* before;
    const char* keys;
    const char* values;
  };
  for (const Case& of :
       {Case{"f32", "bf16", "f16"},
        Case{"bf16", "q8", "q2"},
        Case{"bf16", "q3g32", "t8"},
        Case{"bf16", "t2", "t5"}}) {
    expect_same_store(of.before, of.keys, of.values);
  }
}

TEST(Phases, FetchEveryPositionHeldAsItsPhaseStoresIt) {
  const Sequence sequence(120, 33);
  State state(changing(100));
  const RowId row = state.add_row();
  for (const int64_t length : {0, 60, 100, 101, 120}) {
    feed(state, row, sequence, state.length(row).get(), length, 120);
    const auto got = state.fetch(row, LayerIndex(0));
    ASSERT_EQ(std::ssize(got.positions), length);
    ASSERT_EQ(std::ssize(got.keys), length * kKvHeads * kDim);
    for (size_t i = 0; i < got.keys.size(); ++i) {
      // Dense until the append behind its start.
      const auto stored = [&](float x) {
        return length > 100 ? bf16_to_f32(f32_to_bf16(x)) : x;
      };
      ASSERT_EQ(got.keys[i], stored(sequence.k[i])) << length;
      ASSERT_EQ(got.values[i], stored(sequence.v[i])) << length;
    }
  }
  EXPECT_EQ(state.fetch(row, LayerIndex(1)).positions.front(), 64);
  expect_error(
      ErrorCode::kInvalidArgument, [&] { state.fetch(row, LayerIndex(3)); });
}

TEST(Phases, GiveTheSameBitsBesideNeighboursOfTheOtherPhase) {
  const Sequence mine(150, 34);
  const Sequence other(150, 35);
  State state(ragged());
  const auto alone = feed(state, state.add_row(), mine, 0, 150, 10);
  for (const int64_t lead : {1, 30, 45, 90}) {
    const RowId row = state.add_row();
    const RowId neighbour = state.add_row();
    feed(state, neighbour, other, 0, lead, lead);
    std::vector<float> got;
    int64_t theirs = lead;
    for (int64_t done = 0; done < 150;) {
      const int64_t count =
          std::min<int64_t>({10, 150 - done, state.max_append(row)});
      const int64_t beside =
          std::min<int64_t>({9, 150 - theirs, state.max_append(neighbour)});
      std::vector<RowAppend> rows{{row, count}};
      std::vector<Part> parts{{&mine, done, count}};
      if (beside > 0) {
        rows.insert(rows.begin(), {neighbour, beside});
        parts.insert(parts.begin(), {&other, theirs, beside});
      }
      Step step = state.begin(rows);
      const auto out = run_layers(step, parts);
      step.commit_all();
      got.insert(got.end(), out.end() - count * kHeads * kDim, out.end());
      done += count;
      theirs += beside;
    }
    EXPECT_TRUE(same_bits(alone, got)) << lead;
    state.remove_row(row);
    state.remove_row(neighbour);
  }
}

TEST(Phases, GiveTheSameBitsAfterDraftsThatAreCutAtTheStart) {
  const Sequence sequence(150, 36);
  const Sequence wrong(150, 37);
  State state(ragged());
  const auto alone = feed(state, state.add_row(), sequence, 0, 150, 150);
  std::mt19937 random(1);
  const RowId row = state.add_row();
  std::vector<float> got;
  for (int64_t done = 0; done < 150;) {
    // A draft of which the first tokens are right.
    const int64_t count =
        std::min<int64_t>({6, 150 - done, state.max_append(row)});
    const int64_t right = static_cast<int64_t>(random()) % (count + 1);
    const RowAppend append{row, count};
    Step step = state.begin({&append, 1});
    std::vector<Part> parts;
    if (right > 0) {
      parts.push_back({&sequence, done, right});
    }
    if (right < count) {
      parts.push_back({&wrong, done + right, count - right});
    }
    const auto out = run_layers(step, parts);
    step.commit({&right, 1});
    got.insert(got.end(), out.begin(), out.begin() + right * kHeads * kDim);
    done += right;
  }
  EXPECT_TRUE(same_bits(alone, got));
}

TEST(Phases, GiveForksTheSameBitsOnBothSidesOfTheStart) {
  const Sequence sequence(150, 38);
  State state(changing(100));
  const auto alone = feed(state, state.add_row(), sequence, 0, 150, 50);
  for (const int64_t at : {50, 99, 100, 101, 128}) {
    const RowId row = state.add_row();
    feed(state, row, sequence, 0, at, at);
    const RowId fork = state.fork_row(row);
    for (const RowId each : {row, fork}) {
      EXPECT_TRUE(same_bits(
          tail_of(alone, at), feed(state, each, sequence, at, 150, 20)))
          << at;
      state.remove_row(each);
    }
  }
}

TEST(Phases, AgreeWithTheReferenceRead) {
  const Sequence sequence(150, 39);
  for (StateOptions with : {changing(100), ragged()}) {
    State state(with);
    with.reference_read = true;
    State reference(with);
    const auto got = feed(state, state.add_row(), sequence, 0, 150, 50);
    const auto want =
        feed(reference, reference.add_row(), sequence, 0, 150, 40);
    EXPECT_LT(worst_difference(got, want), 2e-2f);
  }
}

TEST(Phases, RefuseAnAppendAcrossTheStartAndATrimBelowIt) {
  const Sequence sequence(150, 40);
  State state(changing(100));
  const RowId row = state.add_row();
  feed(state, row, sequence, 0, 95, 95);
  EXPECT_EQ(state.max_append(row), 5);
  const RowAppend append{row, 6};
  const std::string text = expect_error(ErrorCode::kInvalidArgument, [&] {
    state.begin({&append, 1});
  });
  EXPECT_NE(text.find("position 100"), std::string::npos) << text;
  feed(state, row, sequence, 95, 102, 7);
  EXPECT_EQ(state.reusable_floor(row), Position(100));
  expect_error(ErrorCode::kUnsupported, [&] { state.trim(row, Position(99)); });
  state.trim(row, Position(100));
}

TEST(Phases, SayHowALayerIsStored) {
  const std::string text = State(ragged()).explain();
  for (const char* part :
       {"layer 0: blocks.1; stored as f32, then f16/bf16 from 40, then bf16 "
        "from 130\n",
        "layer 1: blocks.1; stored as f32, then bf16 from 70\n",
        "layer 2: blocks.1; stored as f16\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST(Phases, NameInTheSignatureWhatIsStoredFromWhere) {
  const State state(ragged());
  const State other(changing(70));
  const auto differs = state.signature().difference(other.signature());
  ASSERT_TRUE(differs.has_value());
  EXPECT_NE(differs->find("layer 0 storage"), std::string::npos) << *differs;
  EXPECT_NE(differs->find("from 130"), std::string::npos) << *differs;
  EXPECT_FALSE(
      state.signature().difference(State(ragged()).signature()).has_value());
}

} // namespace
} // namespace holdfast
