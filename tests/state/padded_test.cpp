// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/state/padded_arrays.h"

#include <optional>

#include "holdfast/rows/padded.h"
#include "tests/state/layers.h"

namespace holdfast {
namespace {

using namespace test;
using Ids = std::vector<RowId>;

// A sequence in a padded input.
struct Padded {
  const Sequence* sequence;
  int64_t left;
  int64_t length;
};

// [B, H, columns, D] from column `first` on; padding is no number.
mx::array columns_of(
    const std::vector<Padded>& rows,
    std::vector<float> Sequence::*values,
    int64_t heads,
    int64_t first,
    int64_t columns) {
  std::vector<float> all(rows.size() * heads * columns * kDim, NAN);
  for (size_t r = 0; r < rows.size(); ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t token = first + c - rows[r].left;
      if (token < 0 || token >= rows[r].length) {
        continue;
      }
      for (int64_t h = 0; h < heads; ++h) {
        const auto from =
            (rows[r].sequence->*values).begin() + (token * heads + h) * kDim;
        std::copy(
            from,
            from + kDim,
            all.begin() + ((r * heads + h) * columns + c) * kDim);
      }
    }
  }
  return mx::array(
      all.data(),
      mx::Shape{
          static_cast<int>(rows.size()),
          static_cast<int>(heads),
          static_cast<int>(columns),
          static_cast<int>(kDim)},
      mx::float32);
}

// Feeds the next columns; returns the outputs [B, H, columns, D].
mx::array feed_columns(
    State& state,
    PaddedInput& input,
    const std::vector<Padded>& rows,
    int64_t first,
    int64_t columns) {
  const auto stream = state.stream();
  const auto q = columns_of(rows, &Sequence::q, kHeads, first, columns);
  const auto k = columns_of(rows, &Sequence::k, kKvHeads, first, columns);
  const auto v = columns_of(rows, &Sequence::v, kKvHeads, first, columns);
  input.open(columns);
  PaddedOutput output(input.batch(), input.columns());
  const auto fit = [&](RowId row, int64_t wanted, BidirectionalSpans spans) {
    return state.fit_append(row, wanted, spans);
  };
  for (auto piece = input.piece(fit); !piece.appends.empty();
       piece = input.piece(fit)) {
    Step step = state.begin(piece.appends);
    const auto ragged_k = gather_heads(k, piece, stream);
    const auto ragged_v = gather_heads(v, piece, stream);
    auto x = gather_heads(q, piece, stream);
    for (int64_t layer = 0; layer < 3; ++layer) {
      x = step.attend(LayerIndex(layer), x, ragged_k, ragged_v);
    }
    mx::eval({x});
    step.commit_all();
    output.add(piece, x);
    input.advance(piece);
  }
  auto out = mx::contiguous(output.heads(stream), false, stream);
  mx::eval({out});
  return out;
}

// The outputs of a row of the batch, token by token, as run_alone gives them.
void append_outputs(
    std::vector<float>& to,
    const mx::array& out,
    int64_t row,
    const Padded& of,
    int64_t first) {
  const int64_t columns = out.shape(2);
  for (int64_t c = 0; c < columns; ++c) {
    const int64_t token = first + c - of.left;
    for (int64_t h = 0; h < kHeads; ++h) {
      const float* from =
          out.data<float>() + ((row * kHeads + h) * columns + c) * kDim;
      if (token >= 0 && token < of.length) {
        to.insert(to.end(), from, from + kDim);
      } else {
        EXPECT_EQ(from[0], 0.0f); // padding comes back as zero
      }
    }
  }
}

StateOptions changing(int64_t start) {
  StateOptions result = options();
  result.precision.phases.push_back(
      {.keys = find_codec("q8").value(),
       .values = find_codec("t4").value(),
       .start = Position(start)});
  return result;
}

TEST(PaddedState, GivesEveryRowTheBitsOfTheRowAlone) {
  const Sequence a(150, 61), b(150, 62), c(150, 63), d(150, 64);
  const int64_t width = 130;
  const std::vector<Padded> rows{
      {&a, 0, 130}, {&b, 60, 70}, {&c, 0, 33}, {&d, 17, 100}, {&a, 5, 0}};
  for (const StateOptions& with :
       {options(), options("q4"), changing(64), changing(50)}) {
    for (const int64_t columns : {130, 50, 7}) {
      State state(with);
      std::vector<PaddedInput::Row> prepared;
      for (const Padded& row : rows) {
        prepared.push_back({state.add_row(), row.left, row.length});
      }
      PaddedInput input(prepared, width);
      std::vector<std::vector<float>> got(rows.size());
      for (int64_t first = 0; first < width; first += columns) {
        const int64_t count = std::min(columns, width - first);
        const auto out = feed_columns(state, input, rows, first, count);
        for (size_t r = 0; r < rows.size(); ++r) {
          append_outputs(got[r], out, r, rows[r], first);
        }
      }
      input.finalize();
      for (size_t r = 0; r < rows.size(); ++r) {
        // Padding takes no position and no block.
        EXPECT_EQ(state.length(prepared[r].row), Position(rows[r].length));
        State solo(with);
        const RowId alone = solo.add_row();
        std::vector<float> want;
        for (int64_t done = 0; done < rows[r].length;) {
          const int64_t count =
              std::min(rows[r].length - done, solo.max_append(alone));
          const auto out =
              append_to(solo, alone, {rows[r].sequence, done, count});
          want.insert(want.end(), out.begin(), out.end());
          done += count;
        }
        EXPECT_TRUE(same_bits(got[r], want)) << columns << " row " << r;
        EXPECT_EQ(
            state.retained_bytes(prepared[r].row), solo.retained_bytes(alone));
      }
    }
  }
}

// Images and prompts that see themselves whole, in rows padded differently.
TEST(PaddedState, GivesRowsWithSpansTheBitsOfTheRowAlone) {
  using Spans = std::vector<BidirectionalSpan>;
  const auto span = [](int64_t begin, int64_t end) {
    return BidirectionalSpan{Position(begin), Position(end)};
  };
  const Sequence a(150, 67), b(150, 68), c(150, 69);
  const int64_t width = 130;
  const std::vector<Padded> rows{{&a, 0, 130}, {&b, 60, 70}, {&c, 17, 100}};
  const std::vector<Spans> spans{
      {span(5, 12), span(55, 100)}, {span(0, 30)}, {}};
  for (const StateOptions& with : {options("q4"), changing(64)}) {
    for (const int64_t columns : {130, 17}) {
      State state(with);
      std::vector<PaddedInput::Row> prepared;
      for (size_t r = 0; r < rows.size(); ++r) {
        prepared.push_back(
            {.row = state.add_row(),
             .left = rows[r].left,
             .length = rows[r].length,
             .spans = spans[r]});
      }
      PaddedInput input(prepared, width);
      std::vector<std::vector<float>> got(rows.size());
      for (int64_t first = 0; first < width;) {
        const int64_t count =
            input.fit_columns(std::min(columns, width - first));
        const auto out = feed_columns(state, input, rows, first, count);
        for (size_t r = 0; r < rows.size(); ++r) {
          append_outputs(got[r], out, static_cast<int64_t>(r), rows[r], first);
        }
        first += count;
      }
      input.finalize();
      for (size_t r = 0; r < rows.size(); ++r) {
        State solo(with);
        const RowId alone = solo.add_row();
        std::vector<float> want;
        for (int64_t done = 0; done < rows[r].length;) {
          const int64_t count =
              solo.fit_append(alone, rows[r].length - done, spans[r]);
          const RowAppend append{
              alone,
              count,
              spans_from(spans[r], Position(done), Position(done + count))};
          Step step = solo.begin({&append, 1});
          const auto out = run_layers(step, {{rows[r].sequence, done, count}});
          step.commit_all();
          want.insert(want.end(), out.begin(), out.end());
          done += count;
        }
        EXPECT_TRUE(same_bits(got[r], want)) << columns << " row " << r;
      }
      // The spans are seen: without them other bits come.
      const RowId plain = state.add_row();
      const auto without = append_to(
          state,
          plain,
          {&a, 0, std::min<int64_t>(130, state.max_append(plain))});
      EXPECT_FALSE(std::equal(without.begin(), without.end(), got[0].begin()));
    }
  }
}

// A longer row is cancelled during the prefill of a padded batch.
TEST(PaddedState, GoesOnWithoutALongerRowThatLeaves) {
  const Sequence a(150, 65), b(150, 66);
  State state(options());
  const RowId longer = state.add_row();
  const RowId shorter = state.add_row();
  std::vector<PaddedInput::Row> prepared{{longer, 0, 140}, {shorter, 0, 20}};
  PaddedInput input(prepared, 140);
  feed_columns(state, input, {{&a, 0, 140}, {&b, 0, 20}}, 0, 13);
  EXPECT_TRUE(state.remove_row(longer));
  EXPECT_TRUE(input.remove(longer));
  EXPECT_EQ(state.bytes(), state.retained_bytes(shorter));
  EXPECT_EQ(state.length(shorter), Position(13));
  std::vector<float> got;
  const Padded row{&b, 0, 20};
  append_outputs(got, feed_columns(state, input, {row}, 13, 13), 0, row, 13);
  input.finalize();
  const auto want = run_alone(state, b, {20});
  EXPECT_TRUE(std::equal(got.begin(), got.end(), want.end() - std::ssize(got)));
}

TEST(PaddedArrays, RefuseOutputsOfOtherPieces) {
  PaddedOutput output(1, 3);
  const PaddedPiece piece{
      .appends = {}, .places = {0, 2}, .batch = 1, .columns = 3};
  expect_error(ErrorCode::kInvalidArgument, [&] {
    output.tokens(mx::default_stream(mx::Device::cpu));
  });
  expect_error(ErrorCode::kInvalidArgument, [&] {
    output.add(piece, mx::zeros({3, 4}));
  });
}

// [2, 4] has a place less a row than [2, 5], [2, 6] others for the same tokens.
TEST(PaddedArrays, AreReadAndFilledInTheColumnsOfTheirPieceAlone) {
  const auto stream = mx::default_stream(mx::Device::cpu);
  Batch batch;
  const std::vector<PaddedInput::Row> rows{
      {batch.add(), 0, 5}, {batch.add(), 1, 4}};
  PaddedInput input(rows, 5);
  input.open(5);
  const PaddedPiece piece = input.piece(
      [](RowId, int64_t wanted, BidirectionalSpans) { return wanted; });
  const auto refused = [&](const auto& call) {
    expect_error(ErrorCode::kInvalidArgument, call);
  };
  for (const mx::Shape& shape :
       {mx::Shape{2, 4}, mx::Shape{2, 6}, mx::Shape{1, 10}, mx::Shape{3, 5}}) {
    const auto x = mx::zeros(shape);
    refused([&] { gather_tokens(x, piece, stream); });
    const auto heads = mx::zeros({shape[0], 3, shape[1], 8});
    refused([&] { gather_heads(heads, piece, stream); });
    PaddedOutput output(shape[0], shape[1]);
    refused([&] { output.add(piece, mx::zeros({9, 8})); });
  }
  EXPECT_EQ(
      gather_heads(mx::zeros({2, 3, 5, 8}), piece, stream).shape(),
      (mx::Shape{9, 3, 8}));
  for (const int32_t place : {-1, 10}) {
    PaddedPiece out = piece;
    out.places.back() = place;
    refused([&] { gather_tokens(mx::zeros({2, 5}), out, stream); });
    PaddedOutput output(2, 5);
    refused([&] { output.add(out, mx::zeros({9})); });
  }
}

TEST(PaddedArrays, FillAPlaceOnceAndTakeOneShape) {
  const auto stream = mx::default_stream(mx::Device::cpu);
  const PaddedPiece first{
      .appends = {}, .places = {0}, .batch = 1, .columns = 2};
  const PaddedPiece second{
      .appends = {}, .places = {1}, .batch = 1, .columns = 2};
  PaddedOutput output(1, 2);
  output.add(first, mx::full({1, 1}, 3.0f));
  const auto refused = [&](const PaddedPiece& piece, const mx::array& with) {
    expect_error(ErrorCode::kInvalidArgument, [&] { output.add(piece, with); });
  };
  refused(first, mx::full({1, 1}, 4.0f));
  refused(second, mx::full({1, 2}, 4.0f));
  refused(second, mx::full({1, 1}, 4, mx::int32));
  output.add(second, mx::full({1, 1}, 5.0f));
  auto back = output.tokens(stream);
  mx::eval({back});
  EXPECT_EQ(values_of(back), (std::vector<float>{3.0f, 5.0f}));
  expect_error(ErrorCode::kInvalidArgument, [] { PaddedOutput(-1, 2); });
  expect_error(
      ErrorCode::kInvalidArgument, [] { PaddedOutput(1 << 20, 1 << 20); });
}

TEST(PaddedArrays, MapTokensThereAndBack) {
  const auto stream = mx::default_stream(mx::Device::cpu);
  const PaddedPiece first{
      .appends = {}, .places = {1, 2, 3}, .batch = 2, .columns = 3};
  const PaddedPiece second{
      .appends = {}, .places = {5}, .batch = 2, .columns = 3};
  const auto ids = mx::reshape(mx::arange(0, 6, mx::int32), {2, 3});
  PaddedOutput output(2, 3);
  output.add(first, gather_tokens(ids, first, stream));
  output.add(second, gather_tokens(ids, second, stream));
  auto back = output.tokens(stream);
  mx::eval({back});
  const std::vector<int32_t> want{0, 1, 2, 3, 0, 5};
  EXPECT_TRUE(std::equal(want.begin(), want.end(), back.data<int32_t>()));
  EXPECT_EQ(back.shape(), (mx::Shape{2, 3}));
}

} // namespace
} // namespace holdfast
