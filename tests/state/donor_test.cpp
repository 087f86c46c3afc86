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
