// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Faults that other state layers had, where codecs, paddings and kinds of state
// meet. The letters are those of docs/faults.md.

#include <algorithm>

#include "holdfast/rows/padded.h"
#include "holdfast/state/padded_arrays.h"
#include "tests/state/layers.h"

namespace holdfast {
namespace {

using namespace test;
using Ids = std::vector<RowId>;

/// Both windows of tests/state/layers.h and a layer without.
std::vector<StateOptions> of_every_codec() {
  std::vector<StateOptions> result;
  for (const Codec* codec : all_codecs()) {
    if (codec->form().kind != CodecKind::kOther &&
        codec->supports(ChannelRole::kKeys, kDim).ok()) {
      result.push_back(options(codec->name().c_str()));
    }
  }
  return result;
}

// B21: the longest row of a ragged batch leaves first; what the others append
// next lands behind what they have, in every codec.
TEST(Fault, RowsAreUntouchedWhenTheLongestLeavesWhateverTheCodec) {
  const std::vector<Sequence> all{
      Sequence(80, 201), Sequence(80, 202), Sequence(80, 203)};
  const int64_t lengths[] = {70, 63, 67};
  for (const StateOptions& with : of_every_codec()) {
    State state(with);
    std::vector<RowAppend> rows;
    std::vector<Part> parts;
    for (size_t r = 0; r < all.size(); ++r) {
      rows.push_back({state.add_row(), lengths[r]});
      parts.push_back({&all[r], 0, lengths[r]});
    }
    {
      Step step = state.begin(rows);
      run_layers(step, parts);
      step.commit_all();
    }
    const auto before = state.fetch(rows[1].row, LayerIndex(0));
    state.filter(Ids{rows[1].row, rows[2].row});
    for (const size_t r : {1, 2}) {
      append_to(state, rows[r].row, {&all[r], lengths[r], 3});
    }
    const auto after = state.fetch(rows[1].row, LayerIndex(0));
    ASSERT_EQ(std::ssize(after.positions), lengths[1] + 3);
    EXPECT_TRUE(
        std::equal(before.keys.begin(), before.keys.end(), after.keys.begin()));
    for (const size_t r : {1, 2}) {
      const RowId alone = state.add_row();
      append_to(state, alone, {&all[r], 0, lengths[r] + 3});
      for (const int64_t layer : {0, 1}) {
        const auto got = state.fetch(rows[r].row, LayerIndex(layer));
        const auto want = state.fetch(alone, LayerIndex(layer));
        EXPECT_EQ(got.positions, want.positions);
        EXPECT_TRUE(same_bits(got.keys, want.keys)) << state.explain();
        EXPECT_TRUE(same_bits(got.values, want.values)) << state.explain();
      }
    }
  }
}

// One recurrent layer and its weights.
struct RecurrentLayerOf {
  RecurrentSpec spec{
      .key_heads = 1,
      .value_heads = 2,
      .key_dim = 16,
      .value_dim = 16,
      .taps = 4};
  std::shared_ptr<const cpu::GatedDelta> weights;

  RecurrentLayerOf() {
    std::mt19937_64 random(7);
    std::normal_distribution<float> normal;
    const auto some = [&](int64_t count) {
      std::vector<float> values(static_cast<size_t>(count));
      std::generate(
          values.begin(), values.end(), [&] { return normal(random); });
      return values;
    };
    const auto conv = some(spec.key_heads * spec.head_width() * spec.taps);
    const auto a_log = some(spec.value_heads);
    const auto bias = some(spec.value_heads);
    const auto norm = some(spec.value_dim);
    weights = std::make_shared<const cpu::GatedDelta>(
        cpu::GatedDelta::make(spec, conv, a_log, bias, norm));
  }
  StateOptions options() const {
    StateOptions result;
    result.layers.push_back(spec);
    result.runtime = {std::make_shared<Executor>(2), best_kernel_path()};
    return result;
  }
};

// B22: left and right padding of numbers that would poison a recurrent state.
TEST(Fault, PaddingOnBothSidesNeverEntersARecurrentState) {
  const RecurrentLayerOf layer;
  const int64_t columns = 40;
  const int64_t lefts[] = {2, 0, 5, 0};
  const int64_t lengths[] = {30, 40, 35, 0};
  const auto width = static_cast<size_t>(layer.spec.input_width());
  std::mt19937_64 random(8);
  std::normal_distribution<float> normal;
  std::vector<float> padded(4 * columns * width, NAN);
  State state(layer.options());
  std::vector<PaddedInput::Row> prepared;
  for (size_t r = 0; r < 4; ++r) {
    const auto from = padded.begin() + (r * columns + lefts[r]) * width;
    std::generate(
        from, from + lengths[r] * width, [&] { return normal(random); });
    prepared.push_back({state.add_row(), lefts[r], lengths[r]});
  }
  const mx::array x(
      padded.data(),
      mx::Shape{4, static_cast<int>(columns), static_cast<int>(width)},
      mx::float32);
  PaddedInput input(prepared, columns);
  input.open(columns);
  const auto piece =
      input.piece([&](RowId row, int64_t wanted, BidirectionalSpans spans) {
        return state.fit_append(row, wanted, spans);
      });
  Step step = state.begin(piece.appends);
  auto out = step.recur(
      LayerIndex(0), layer.weights, gather_tokens(x, piece, state.stream()));
  mx::eval({out});
  step.commit_all();
  input.advance(piece);
  input.finalize();
  const float* got = out.data<float>();
  for (size_t r = 0; r < 4; ++r) {
    ASSERT_EQ(state.length(prepared[r].row), Position(lengths[r]));
    if (lengths[r] == 0) {
      continue;
    }
    const RowAppend append{state.add_row(), lengths[r]};
    Step alone = state.begin({&append, 1});
    auto want = alone.recur(
        LayerIndex(0),
        layer.weights,
        mx::array(
            padded.data() + (r * columns + lefts[r]) * width,
            mx::Shape{static_cast<int>(lengths[r]), static_cast<int>(width)},
            mx::float32));
    mx::eval({want});
    alone.commit_all();
    EXPECT_EQ(
        std::memcmp(got, want.data<float>(), want.size() * sizeof(float)), 0)
        << r;
    got += want.size();
  }
}

// B35: stored under other bits or groups is another thing, and says so.
TEST(Fault, StateOfOtherBitsOrGroupsIsRefusedByName) {
  const Sequence a(70, 204);
  State state(options("q4"));
  const RowId row = state.add_row();
  append_to(state, row, {&a, 0, 70});
  const Snapshot kept = state.snapshot(row, std::vector<int32_t>(70, 1));
  for (const char* codec : {"q6", "q4g32", "q8", "t4", "bf16"}) {
    State other(options(codec));
    const std::string text =
        expect_error(ErrorCode::kUnsupported, [&] { other.adopt(kept); });
    EXPECT_NE(text.find("storage"), std::string::npos) << text;
    EXPECT_NE(text.find("g64"), std::string::npos) << text;
    EXPECT_TRUE(other.rows().empty());
    EXPECT_EQ(other.bytes(), Bytes(0));
  }
}

// B46, B47, B65: weights and adapters are part of what the model says of
// itself; state of other ones is no state of this one.
TEST(Fault, StateOfOtherWeightsOrAdaptersIsRefusedByName) {
  const Sequence a(70, 205);
  StateOptions with = options("q8");
  with.identity = {{"weights", "1"}, {"adapter", "a 1"}};
  State state(with);
  const RowId row = state.add_row();
  append_to(state, row, {&a, 0, 70});
  const Snapshot kept = state.snapshot(row, std::vector<int32_t>(70, 1));
  const auto refused = [&](std::vector<Signature::Field> identity,
                           const char* field) {
    with.identity = std::move(identity);
    State other(with);
    const std::string text =
        expect_error(ErrorCode::kUnsupported, [&] { other.adopt(kept); });
    EXPECT_NE(text.find(field), std::string::npos) << text;
    EXPECT_TRUE(other.rows().empty());
  };
  refused({{"weights", "1"}, {"adapter", "a 2"}}, "adapter: expected a 2");
  refused({{"weights", "1"}, {"adapter", "b 1"}}, "adapter: expected b 1");
  refused({{"weights", "2"}, {"adapter", "a 1"}}, "weights: expected 2");
  refused({{"weights", "1"}}, "adapter: expected no such field");
  refused({}, "weights");
  with.identity = {{"weights", "1"}, {"adapter", "a 1"}};
  State same(with);
  EXPECT_EQ(same.length(same.adopt(kept)), Position(70));
}

// B95, B52: what is kept is the positions, not the room behind them.
TEST(Fault, ASnapshotEndsWhereItsPositionsEnd) {
  const Sequence a(200, 206);
  for (const char* codec : {"bf16", "q4", "t3"}) {
    State state(options(codec));
    const auto whole = run_alone(state, a, {200});
    for (const int64_t length : {1, 63, 64, 65, 128, 129}) {
      const RowId row = state.add_row();
      append_to(state, row, {&a, 0, length});
      const Snapshot kept =
          state.snapshot(row, std::vector<int32_t>(length, 1));
      State other(options(codec));
      const RowId adopted = other.adopt(kept);
      const auto got = other.fetch(adopted, LayerIndex(0));
      ASSERT_EQ(std::ssize(got.positions), length);
      EXPECT_TRUE(same_bits(got.keys, state.fetch(row, LayerIndex(0)).keys));
      EXPECT_EQ(other.retained_bytes(adopted), state.retained_bytes(row));
      const auto out = append_to(other, adopted, {&a, length, 200 - length});
      EXPECT_TRUE(
          std::equal(out.begin(), out.end(), whole.end() - std::ssize(out)))
          << codec << " " << length;
    }
  }
}

} // namespace
} // namespace holdfast
