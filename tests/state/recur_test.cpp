// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers beside attention in one state: what Step refuses, and rows
// that move between batches.

#include "tests/state/hybrid.h"
#include "tests/state/stored_blocks.h"

namespace holdfast {
namespace {

namespace mx = mlx::core;
using test::expect_error;
using test::Hybrid;
using test::hybrid;
using test::kSpec;
using test::RecurrentWeights;

TEST(Recur, GoesOnInWhateverBatchItsRowIs) {
  const Hybrid hybrid_model(150);
  State state(hybrid());
  const RowId alone = state.add_row();
  const auto want = hybrid_model.append(state, alone, 0, 150);
  const auto tail = [&](int64_t from) {
    return std::vector<float>(
        want.begin() + from * kSpec.output_width(), want.end());
  };
  for (const int64_t at : {64, 100}) {
    const RowId row = state.add_row();
    hybrid_model.append(state, row, 0, at);
    State extracted = state.extract({&row, 1});
    hybrid_model.append(state, row, 20, 9); // the source goes elsewhere
    State other = state.sibling();
    other.add_row();
    const RowId moved =
        other.take(extracted, std::vector(1, extracted.rows()[0]))[0];
    EXPECT_TRUE(test::same_bits(
        tail(at), hybrid_model.append(other, moved, at, 150 - at)));
    state.remove_row(row);
  }
}

TEST(Recur, GoesOnBehindATrimAndALongStepOverItsBlock) {
  const Hybrid model(130);
  State fresh(hybrid());
  const auto want = model.append(fresh, fresh.add_row(), 0, 130);
  for (const int64_t at : {45, 64}) {
    State state(hybrid());
    const RowId row = state.add_row();
    model.append(state, row, 0, 20);
    model.append(state, row, 20, 10);
    model.append(state, row, 70, 10); // others, as are the next
    model.append(state, row, 80, 10);
    state.trim(row, Position(30));
    model.append(state, row, 30, 35);
    state.trim(row, Position(at));
    EXPECT_TRUE(test::same_bits(
        {want.begin() + at * kSpec.output_width(), want.end()},
        model.append(state, row, at, 130 - at)))
        << at;
  }
}

// The block of the last position alone goes on from any of its positions,
// whatever inputs, running state and mark lie behind it.
TEST(Recur, GoesOnFromAStoredBlockAtEveryLengthWithin) {
  const Hybrid model(200);
  State fresh(hybrid());
  const auto want = model.append(fresh, fresh.add_row(), 0, 200);
  for (const int64_t at : {1, 63, 64, 65, 100, 127, 128, 130}) {
    State state(hybrid());
    const RowId row = state.add_row();
    state.keep_sealed(row, true);
    model.append(state, row, 0, at);
    model.append(state, row, 50, 3); // others from here on
    model.append(state, row, 20, 130);
    test::StoredBlocks stored;
    stored.take(state, row);
    state.remove_row(row);
    const RowId adopted = stored.adopt(state, {Position(at), {0, 0}});
    EXPECT_TRUE(test::same_bits(
        {want.begin() + at * kSpec.output_width(), want.end()},
        model.append(state, adopted, at, 200 - at)))
        << at;
  }
}

TEST(Recur, IsRefusedForOtherLayersShapesAndWeights) {
  const Hybrid model(10);
  State state(hybrid());
  const RowAppend append{state.add_row(), 10};
  Step step = state.begin({&append, 1});
  const auto refuses = [&](const auto& call) {
    expect_error(ErrorCode::kInvalidArgument, call);
  };
  const auto inputs = model.inputs(0, 10);
  refuses([&] { step.recur(LayerIndex(1), model.weights(), inputs); });
  refuses([&] { step.recur(LayerIndex(2), model.weights(), inputs); });
  refuses([&] { step.recur(LayerIndex(0), nullptr, inputs); });
  refuses(
      [&] { step.recur(LayerIndex(0), model.weights(), model.inputs(0, 9)); });
  const RecurrentSpec other{2, 4, 32, 16, 4};
  refuses([&] {
    step.recur(
        LayerIndex(0),
        std::make_shared<const cpu::GatedDelta>(
            RecurrentWeights(other, 1).layer()),
        inputs);
  });
  const auto q = mx::zeros({10, test::kHeads, test::kDim});
  const auto k = mx::zeros({10, test::kKvHeads, test::kDim});
  refuses([&] { step.attend(LayerIndex(0), q, k, k); });
  step.recur(LayerIndex(0), model.weights(), inputs);
  refuses([&] { step.recur(LayerIndex(0), model.weights(), inputs); });
  refuses([&] { step.commit_all(); }); // layer 1 was left out
  EXPECT_EQ(state.length(append.row), Position(0));
  expect_error(
      ErrorCode::kUnsupported, [&] { state.fetch(append.row, LayerIndex(0)); });
}

TEST(Recur, ThrowsWhereItIsEvaluatedAfterItsStep) {
  const Hybrid model(80);
  State state(hybrid());
  const RowId row = state.add_row();
  model.append(state, row, 0, 40);
  const RowAppend append{row, 5};
  std::optional<mx::array> late;
  {
    Step step = state.begin({&append, 1});
    late = step.recur(LayerIndex(0), model.weights(), model.inputs(60, 5));
  }
  EXPECT_THROW(mx::eval({*late}), std::exception);
  State fresh(hybrid());
  const RowId whole = fresh.add_row();
  const auto want = model.append(fresh, whole, 0, 80);
  EXPECT_TRUE(test::same_bits(
      {want.begin() + 40 * kSpec.output_width(), want.end()},
      model.append(state, row, 40, 40)));
}

TEST(Recur, CostsAFixedNumberOfBytesARow) {
  const Hybrid model(700);
  State state(hybrid());
  const RowId row = state.add_row();
  Bytes largest;
  for (int64_t done = 0; done < 700; done += 70) {
    model.append(state, row, done, 70);
    const LayerGroups groups(std::vector<LayerState>{{{}, {}, kSpec}});
    largest = std::max(
        largest,
        state.retained_bytes(row) - Bytes((done + 70 + 63) / 64 * 32768));
    EXPECT_LE(largest, groups.image_bytes()[0] + groups.image_bytes()[0]);
  }
  EXPECT_GT(largest, Bytes(0));
  // An attention layer of 2 heads of 64 in bf16, keys and values.
  EXPECT_EQ(state.bytes_per_token(), Bytes(512));
}

} // namespace
} // namespace holdfast
