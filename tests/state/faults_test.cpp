// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Faults that other state layers had and that only show where codecs, batches
// and stored rows meet.

#include <algorithm>
#include <numeric>
#include <optional>

#include "tests/state/layers.h"

namespace holdfast {
namespace {

using namespace test;
using Ids = std::vector<RowId>;

StateOptions stored(const char* keys, const char* values, int64_t start = 0) {
  StateOptions result = options();
  const Codec* k = find_codec(keys).value();
  const Codec* v = find_codec(values).value();
  if (start == 0) {
    result.precision.phases = always(k, v);
  } else {
    result.precision.phases.push_back(
        {.keys = k, .values = v, .start = Position(start)});
  }
  return result;
}

std::vector<int32_t> tokens(int64_t count) {
  return std::vector<int32_t>(static_cast<size_t>(count), 7);
}

std::vector<float> last_tokens(const std::vector<float>& all, int64_t count) {
  return {all.end() - count * kHeads * kDim, all.end()};
}

// An unrelated prompt after a windowed row was stored.
TEST(Fault, AStoredRowIsNotTiedToWhatRunsAfterIt) {
  const Sequence first(200, 101);
  const Sequence cold(200, 102);
  for (const char* codec : {"bf16", "q8", "q4", "t3"}) {
    State empty(stored(codec, codec));
    const auto want = run_alone(empty, cold, {200});
    State state(stored(codec, codec));
    const RowId row = state.add_row();
    append_to(state, row, {&first, 0, 200}); // far behind its window
    const Snapshot kept = state.snapshot(row, tokens(200));
    state.remove_row(row);
    EXPECT_TRUE(same_bits(run_alone(state, cold, {200}), want)) << codec;
    EXPECT_EQ(state.length(state.adopt(kept)), Position(200));
  }
}

// Rows behind the first of an encoded batch.
TEST(Fault, EveryRowOfAnEncodedBatchStoresWhatItStoresAlone) {
  const std::vector<Sequence> all{
      Sequence(90, 103), Sequence(90, 104), Sequence(90, 105)};
  for (const char* codec : {"q8", "q2", "t4", "t2"}) {
    State state(stored(codec, codec));
    std::vector<RowAppend> rows;
    std::vector<Part> parts;
    for (const Sequence& sequence : all) {
      rows.push_back({state.add_row(), 90});
      parts.push_back({&sequence, 0, 90});
    }
    Step step = state.begin(rows);
    run_layers(step, parts);
    step.commit_all();
    for (size_t r = 0; r < all.size(); ++r) {
      const RowId solo = state.add_row();
      append_to(state, solo, {&all[r], 0, 90});
      const auto got = state.fetch(rows[r].row, LayerIndex(0));
      const auto want = state.fetch(solo, LayerIndex(0));
      EXPECT_TRUE(same_bits(got.keys, want.keys)) << codec << r;
      EXPECT_TRUE(same_bits(got.values, want.values)) << codec << r;
    }
  }
}

// Rows of several kinds meet in one batch, or are refused before anything.
TEST(Fault, ADenseRowJoinsEncodedOnesAndTheBatchGoesOn) {
  const Sequence a(150, 106);
  const Sequence b(150, 107);
  State state(stored("t4", "t3", 100));
  const RowId encoded = state.add_row();
  append_to(state, encoded, {&a, 0, 100});
  append_to(state, encoded, {&a, 100, 10});
  State beside = state.sibling();
  const RowId dense = beside.add_row();
  append_to(beside, dense, {&b, 0, 30});
  const RowId joined = state.take(beside, Ids{dense})[0];
  State other(stored("q4", "q4"));
  const RowId strange = other.add_row();
  expect_error(
      ErrorCode::kInvalidArgument, [&] { state.take(other, Ids{strange}); });
  const std::vector<RowAppend> both{{encoded, 5}, {joined, 5}};
  Step step = state.begin(both);
  const auto got = run_layers(step, {{&a, 110, 5}, {&b, 30, 5}});
  step.commit_all();
  EXPECT_EQ(state.length(joined), Position(35));
  // Each as alone, in outputs and in what is stored.
  State alone(stored("t4", "t3", 100));
  auto want = last_tokens(run_alone(alone, a, {100, 10, 5}), 5);
  const auto of_b = last_tokens(run_alone(alone, b, {30, 5}), 5);
  want.insert(want.end(), of_b.begin(), of_b.end());
  EXPECT_TRUE(same_bits(got, want));
  for (int64_t layer = 0; layer < 3; ++layer) {
    for (size_t r = 0; r < both.size(); ++r) {
      const auto one = state.fetch(both[r].row, LayerIndex(layer));
      const auto other = alone.fetch(alone.rows()[r], LayerIndex(layer));
      EXPECT_TRUE(same_bits(one.keys, other.keys)) << layer << " " << r;
      EXPECT_TRUE(same_bits(one.values, other.values)) << layer << " " << r;
    }
  }
}

// A threshold counts in a batch as it does alone.
TEST(Fault, AShortRowOfABatchStaysDenseUntilItsStart) {
  const Sequence a(80, 108);
  State state(stored("q4", "q4", 64));
  State dense(stored("bf16", "bf16"));
  const std::vector<RowAppend> rows{
      {state.add_row(), 10}, {state.add_row(), 64}};
  Step step = state.begin(rows);
  run_layers(step, {{&a, 0, 10}, {&a, 0, 64}});
  step.commit_all();
  const RowId want = dense.add_row();
  append_to(dense, want, {&a, 0, 64});
  const auto all = dense.fetch(want, LayerIndex(0)).keys;
  const auto brief = state.fetch(rows[0].row, LayerIndex(0)).keys;
  EXPECT_TRUE(std::equal(brief.begin(), brief.end(), all.begin()));
  EXPECT_TRUE(same_bits(state.fetch(rows[1].row, LayerIndex(0)).keys, all));
  append_to(state, rows[1].row, {&a, 64, 1});
  const auto after = state.fetch(rows[1].row, LayerIndex(0)).keys;
  EXPECT_FALSE(std::equal(all.begin(), all.end(), after.begin()));
  append_to(state, rows[1].row, {&a, 65, 10}); // once
  const auto later = state.fetch(rows[1].row, LayerIndex(0)).keys;
  EXPECT_TRUE(std::equal(after.begin(), after.end(), later.begin()));
}

// Layers of other kinds come back as they were.
TEST(Fault, ASnapshotKeepsTheKindOfEveryLayer) {
  const Sequence a(120, 109);
  StateOptions with = stored("t4", "t4");
  with.precision.layers[1] = stored("q4", "q4").precision.phases;
  with.precision.layers[2] = stored("bf16", "bf16").precision.phases;
  State state(with);
  const RowId row = state.add_row();
  append_to(state, row, {&a, 0, 100});
  const Snapshot snapshot = state.snapshot(row, tokens(100));
  State again(with);
  const RowId adopted = again.adopt(snapshot);
  for (int64_t layer = 0; layer < 3; ++layer) {
    const auto got = again.fetch(adopted, LayerIndex(layer));
    const auto want = state.fetch(row, LayerIndex(layer));
    EXPECT_EQ(got.positions, want.positions);
    EXPECT_TRUE(same_bits(got.keys, want.keys));
    EXPECT_TRUE(same_bits(got.values, want.values));
  }
  EXPECT_TRUE(same_bits(
      append_to(again, adopted, {&a, 100, 20}),
      append_to(state, row, {&a, 100, 20})));
}

// Reorder, trim and selection reach encoded blocks and the open tail.
TEST(Fault, RowVerbsReachSealedBlocksAndTheTail) {
  const Sequence a(150, 110);
  const Sequence b(150, 111);
  for (const char* codec : {"q4", "t3"}) {
    StateOptions with = stored(codec, codec);
    for (LayerSpec& layer : with.layers) {
      std::get<AttentionSpec>(layer).visibility.window = 0;
    }
    State state(with);
    const RowId first = state.add_row();
    const RowId second = state.add_row();
    append_to(state, first, {&a, 0, 130});
    append_to(state, second, {&b, 0, 130});
    const auto before = state.fetch(second, LayerIndex(0)).keys;
    state.reorder(Ids{second, first});
    state.trim(second, Position(100)); // over the seam at 128
    state.filter(Ids{second});
    const auto kept = state.fetch(second, LayerIndex(0)).keys;
    ASSERT_EQ(std::ssize(kept), 100 * kKvHeads * kDim);
    EXPECT_TRUE(std::equal(kept.begin(), kept.end(), before.begin()));
    State plain(with);
    const RowId same = plain.add_row();
    append_to(plain, same, {&b, 0, 100});
    EXPECT_TRUE(same_bits(
        append_to(state, second, {&b, 100, 50}),
        append_to(plain, same, {&b, 100, 50})));
  }
}

// A full hit leaves the last token to compute.
TEST(Fault, AStoredRowCanAlwaysComputeItsLastTokenAgain) {
  const Sequence a(150, 112);
  State state(stored("q8", "q8"));
  for (const int64_t length : {1, 20, 21, 64, 65, 128, 150}) {
    const auto want = run_alone(state, a, {length});
    const RowId row = state.add_row();
    append_to(state, row, {&a, 0, length});
    const RowId again = state.adopt(state.snapshot(row, tokens(length)));
    state.trim(again, Position(length - 1));
    const auto out = append_to(state, again, {&a, length - 1, 1});
    EXPECT_TRUE(
        std::equal(out.begin(), out.end(), want.end() - std::ssize(out)))
        << length;
  }
}

// The cap binds what is held, whatever holds it.
TEST(Fault, TheByteCapBindsRowsForksAndSnapshotsTogether) {
  const Sequence a(100, 113);
  State probe(options());
  run_alone(probe, a, {100});
  StateOptions small = options();
  small.max_bytes = Bytes(3 * probe.bytes().get());
  State state(small);
  std::vector<Snapshot> kept;
  int refused = 0;
  for (int i = 0; i < 20; ++i) {
    try {
      const RowId row = state.add_row();
      append_to(state, row, {&a, 0, 100});
      kept.push_back(state.snapshot(row, tokens(100)));
      state.fork_row(row);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kOutOfBudget);
      ++refused;
    }
    ASSERT_LE(state.bytes(), small.max_bytes);
    ASSERT_LE(state.peak_bytes(), small.max_bytes);
  }
  EXPECT_GT(refused, 10);
  kept.clear();
  state.filter(Ids{});
  EXPECT_EQ(state.bytes(), Bytes(0));
}

// What came before in the process decides nothing.
TEST(Fault, PromptsInEveryOrderGiveTheSameBits) {
  const std::vector<Sequence> all{
      Sequence(70, 114), Sequence(130, 115), Sequence(30, 116)};
  std::vector<std::vector<float>> want;
  for (const Sequence& sequence : all) {
    State cold(stored("q4", "t4", 50));
    const RowId row = cold.add_row();
    const int64_t length = std::ssize(sequence.k) / (kKvHeads * kDim);
    append_to(cold, row, {&sequence, 0, 30});
    want.push_back(
        length > 30 ? append_to(cold, row, {&sequence, 30, 20})
                    : std::vector<float>{});
  }
  std::vector<size_t> order{0, 1, 2};
  State state(stored("q4", "t4", 50));
  do {
    for (const size_t i : order) {
      const RowId row = state.add_row();
      append_to(state, row, {&all[i], 0, 30});
      if (!want[i].empty()) {
        EXPECT_TRUE(
            same_bits(append_to(state, row, {&all[i], 30, 20}), want[i]));
      }
      if (i != 1) {
        state.remove_row(row); // one stays: memory is used again in part
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

// What rotates and rounds is named, so that other parameters are refused.
TEST(Fault, TheSignatureNamesTheRotationAndTheCodesOfACodec) {
  const State state(stored("t4", "q4g32"));
  const auto fields = state.signature().fields();
  const auto storage =
      std::find_if(fields.begin(), fields.end(), [](const auto& field) {
        return field.name == "layer 0 storage";
      });
  ASSERT_NE(storage, fields.end());
  for (const char* part : {"hadamard", "seed", "g32"}) {
    EXPECT_NE(storage->value.find(part), std::string::npos) << storage->value;
  }
}

} // namespace
} // namespace holdfast
