// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "tests/state/layers.h"

namespace holdfast {
namespace {

namespace mx = mlx::core;
using test::expect_error;
using test::kDim;
using test::kHeads;
using test::kKvHeads;
using test::Sequence;

AttentionSpec spec_of(int64_t window, std::optional<LayerIndex> donor = {}) {
  return {
      .query_heads = kHeads,
      .kv_heads = kKvHeads,
      .key_dim = kDim,
      .value_dim = kDim,
      .scale = 0.125f,
      .visibility = {.window = window},
      .donor = donor};
}

// A full layer, a sliding one, and two that read them, the last with a narrower
// window; or four with the same keys and values of their own.
StateOptions
four_layers(bool donors, const char* codec = "bf16", bool reference = false) {
  StateOptions options = test::options(codec);
  options.reference_read = reference;
  const auto donor = [&](int64_t layer) {
    return donors ? std::optional(LayerIndex(layer)) : std::nullopt;
  };
  options.layers = {
      spec_of(0), spec_of(30), spec_of(0, donor(0)), spec_of(10, donor(1))};
  return options;
}

mx::array run_four(Step& step, const test::Part& part, bool donors) {
  const auto k = test::gather({part}, &Sequence::k, kKvHeads);
  const auto v = test::gather({part}, &Sequence::v, kKvHeads);
  auto x = test::gather({part}, &Sequence::q, kHeads);
  for (int64_t layer = 0; layer < 4; ++layer) {
    x = donors && layer >= 2 ? step.attend_donor(LayerIndex(layer), x)
                             : step.attend(LayerIndex(layer), x, k, v);
  }
  return x;
}

std::vector<float> run_in_chunks(
    State& state,
    const Sequence& sequence,
    int64_t tokens,
    int64_t chunk) {
  const bool donors =
      std::get<AttentionSpec>(state.options().layers[2]).donor.has_value();
  const RowId row = state.add_row();
  std::vector<float> all;
  for (int64_t done = 0; done < tokens; done += chunk) {
    const int64_t count = std::min(chunk, tokens - done);
    const RowAppend append{row, count};
    Step step = state.begin({&append, 1});
    auto x = run_four(step, {&sequence, done, count}, donors);
    mx::eval({x});
    const auto out = test::values_of(x);
    all.insert(all.end(), out.begin(), out.end());
    step.commit_all();
  }
  return all;
}

TEST(Donor, IsReadAsIfTheLayerHadStoredTheSame) {
  const Sequence sequence(200, 1);
  for (const bool reference : {false, true}) {
    for (const char* codec : {"bf16", "f32", "q8", "t4"}) {
      State with(four_layers(true, codec, reference));
      State without(four_layers(false, codec, reference));
      EXPECT_TRUE(test::same_bits(
          run_in_chunks(without, sequence, 200, 50),
          run_in_chunks(with, sequence, 200, 50)))
          << codec << (reference ? ", reference" : "");
    }
  }
}

TEST(Donor, GivesTheSameBitsInAnyChunksOfUncommittedPositions) {
  const Sequence sequence(150, 2);
  State state(four_layers(true));
  const auto want = run_in_chunks(state, sequence, 150, 150);
  for (const int64_t chunk : {1, 7, 64}) {
    EXPECT_TRUE(
        test::same_bits(want, run_in_chunks(state, sequence, 150, chunk)))
        << chunk;
  }
}

TEST(Donor, StoresNothing) {
  const Sequence sequence(64, 3);
  State with(four_layers(true));
  StateOptions options = four_layers(true);
  options.layers.resize(2);
  State two(options);
  EXPECT_EQ(with.bytes_per_token(), two.bytes_per_token());
  run_in_chunks(with, sequence, 64, 64);
  const auto row = with.rows()[0];
  const auto own = with.fetch(row, LayerIndex(0));
  const auto read = with.fetch(row, LayerIndex(2));
  EXPECT_EQ(own.keys, read.keys);
  EXPECT_EQ(own.values, read.values);
  EXPECT_EQ(own.positions, read.positions);
}

// Dense until 100, then encoded.
StateOptions changing(bool donors) {
  StateOptions options = four_layers(donors);
  options.precision.phases.push_back(
      {.keys = find_codec("q4").value(),
       .values = find_codec("t3").value(),
       .start = Position(100)});
  return options;
}

TEST(Donor, IsReadAsIfTheLayerHadStoredTheSameOverAConversion) {
  const Sequence sequence(200, 7);
  State with(changing(true));
  State without(changing(false));
  EXPECT_TRUE(test::same_bits(
      run_in_chunks(without, sequence, 200, 25),
      run_in_chunks(with, sequence, 200, 25)));
}

// What a row is, and what all of them cost.
struct Held {
  Held(const State& state, RowId row)
      : bytes(state.bytes()),
        peak(state.peak_bytes()),
        retained(state.retained_bytes(row)) {
    for (const int64_t layer : {0, 1}) {
      const FetchedChannels of = state.fetch(row, LayerIndex(layer));
      positions.push_back(of.positions);
      values.push_back(of.keys);
      values.push_back(of.values);
    }
  }
  bool operator==(const Held&) const = default;

  Bytes bytes, peak, retained;
  std::vector<std::vector<int64_t>> positions;
  std::vector<std::vector<float>> values;
};

// One row's step ends where it is due, and its next begins there; a neighbour
// is due all the time.
TEST(Donor, NeverConvertsSealsReleasesOrMovesThoughAConversionIsDue) {
  const Sequence sequence(200, 8);
  State state(changing(true));
  State unread(changing(true));
  const auto grow = [&](State& to, RowId row, int64_t end, bool read) {
    const int64_t first = to.length(row).get();
    const test::Part part{&sequence, first, end - first};
    const RowAppend append{row, part.count};
    const RowId neighbour = to.rows()[0];
    Step step = to.begin({&append, 1});
    const auto k = test::gather({part}, &Sequence::k, kKvHeads);
    const auto v = test::gather({part}, &Sequence::v, kKvHeads);
    auto x = test::gather({part}, &Sequence::q, kHeads);
    x = step.attend(LayerIndex(0), x, k, v);
    x = step.attend(LayerIndex(1), x, k, v);
    mx::eval({x});
    const Held before(to, row);
    const Held beside(to, neighbour);
    if (read) {
      auto full = step.attend_donor(LayerIndex(2), x);
      auto near = step.attend_donor(LayerIndex(3), x);
      mx::eval({full, near});
    }
    EXPECT_EQ(Held(to, row), before);
    EXPECT_EQ(Held(to, neighbour), beside);
    step.commit_all();
  };
  std::vector<RowId> rows;
  for (State* to : {&state, &unread}) {
    const RowId due = to->add_row();
    grow(*to, due, 100, false);
    rows.push_back(to->add_row());
  }
  for (const int64_t end : {70, 100, 130, 195}) { // both windows move
    grow(state, rows[0], end, true);
    grow(unread, rows[1], end, false);
    EXPECT_EQ(Held(state, rows[0]), Held(unread, rows[1])) << end;
    EXPECT_EQ(Held(state, state.rows()[0]), Held(unread, unread.rows()[0]));
  }
}

TEST(Donor, MayBeLeftUnread) {
  const Sequence sequence(20, 4);
  State state(four_layers(true));
  const RowAppend append{state.add_row(), 20};
  Step step = state.begin({&append, 1});
  const auto k = test::gather({{&sequence, 0, 20}}, &Sequence::k, kKvHeads);
  const auto v = test::gather({{&sequence, 0, 20}}, &Sequence::v, kKvHeads);
  auto x = test::gather({{&sequence, 0, 20}}, &Sequence::q, kHeads);
  x = step.attend(LayerIndex(0), x, k, v);
  step.attend(LayerIndex(1), x, k, v);
  step.commit_all();
  EXPECT_EQ(state.length(append.row), Position(20));
}

TEST(Donor, IsRefusedOutOfTurnAndAfterItsStep) {
  const Sequence sequence(20, 5);
  State state(four_layers(true));
  const RowAppend append{state.add_row(), 20};
  const auto k = test::gather({{&sequence, 0, 20}}, &Sequence::k, kKvHeads);
  const auto v = test::gather({{&sequence, 0, 20}}, &Sequence::v, kKvHeads);
  const auto q = test::gather({{&sequence, 0, 20}}, &Sequence::q, kHeads);
  Step step = state.begin({&append, 1});
  const auto refuses = [&](const auto& call) {
    expect_error(ErrorCode::kInvalidArgument, call);
  };
  refuses([&] { step.attend_donor(LayerIndex(2), q); }); // before its donor
  step.attend(LayerIndex(0), q, k, v);
  refuses([&] { step.attend(LayerIndex(2), q, k, v); });
  refuses([&] { step.attend_donor(LayerIndex(1), q); });
  const std::string shape = expect_error(ErrorCode::kInvalidArgument, [&] {
    step.attend_donor(LayerIndex(2), k);
  });
  EXPECT_EQ(
      shape,
      "[Step::attend_donor] expected q [20, 4, 64] float32, got [20, 2, 64] "
      "float32");
  auto late = step.attend_donor(LayerIndex(2), q);
  refuses([&] { step.attend_donor(LayerIndex(2), q); });
  step.rollback();
  EXPECT_THROW(mx::eval({late}), std::exception);
  expect_error(ErrorCode::kStale, [&] { step.attend_donor(LayerIndex(3), q); });
}

TEST(Donor, MustComeEarlierStoreAndKeepWhatIsSeen) {
  const auto refuses = [](AttentionSpec spec) {
    StateOptions options = four_layers(true);
    options.layers[3] = std::move(spec);
    const std::string text = expect_error(
        ErrorCode::kInvalidArgument, [&] { State state(options); });
    EXPECT_NE(text.find("donor of layer 3"), std::string::npos) << text;
  };
  refuses(spec_of(0, LayerIndex(3)));
  refuses(spec_of(0, LayerIndex(-1)));
  refuses(spec_of(0, LayerIndex(2))); // has a donor itself
  refuses(spec_of(0, LayerIndex(1))); // keeps 30 positions
  refuses(spec_of(31, LayerIndex(1)));
  AttentionSpec wide = spec_of(0, LayerIndex(0));
  wide.key_dim = 32;
  refuses(wide);
  StateOptions named = four_layers(true);
  named.precision.layers[2] = named.precision.phases;
  expect_error(ErrorCode::kInvalidArgument, [&] { State state(named); });
}

} // namespace
} // namespace holdfast
