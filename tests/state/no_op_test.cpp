// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What does nothing, and what reads while a step is open: the tables of
// docs/rows.md.

#include <numeric>

#include "holdfast/rows/padded.h"
#include "tests/state/layers.h"

namespace holdfast {
namespace {

using namespace test;
using Ids = std::vector<RowId>;

/// All of a State that a verb could change.
struct Whole {
  explicit Whole(const State& state)
      : rows(state.rows().begin(), state.rows().end()), bytes(state.bytes()) {
    for (const RowId row : rows) {
      lengths.push_back(state.length(row));
      retained.push_back(state.retained_bytes(row));
      for (int64_t layer = 0; layer < 3; ++layer) {
        const FetchedChannels stored = state.fetch(row, LayerIndex(layer));
        keys.push_back(stored.keys);
        values.push_back(stored.values);
      }
    }
  }
  bool operator==(const Whole&) const = default;

  Ids rows;
  Bytes bytes;
  std::vector<Position> lengths;
  std::vector<Bytes> retained;
  std::vector<std::vector<float>> keys, values;
};

/// And of a padded input: what it would feed, row by row.
struct Books {
  explicit Books(const PaddedInput& input)
      : order(input.order()),
        columns(input.columns()),
        finished(input.finished()) {
    const PaddedPiece piece = input.piece(
        [](RowId, int64_t wanted, BidirectionalSpans) { return wanted; });
    places = piece.places;
    for (const RowAppend& append : piece.appends) {
      rows.push_back(append.row);
      counts.push_back(append.count);
    }
    for (const RowId row : order) {
      fed.push_back(input.fed(row));
      ends.push_back(input.valid_end(row));
    }
  }
  bool operator==(const Books&) const = default;

  Ids order, rows;
  int64_t columns;
  bool finished;
  std::vector<int32_t> places;
  std::vector<int64_t> counts, fed, ends;
};

void expect_rows_untouched(State& state, RowId gone) {
  const Ids rows(state.rows().begin(), state.rows().end());
  const Whole before(state);
  EXPECT_FALSE(state.remove_row(gone));
  for (const RowId row : rows) {
    state.trim(row, state.length(row));
    state.keep_sealed(row, false);
  }
  state.filter(rows);
  state.reorder(rows);
  State beside = state.sibling();
  EXPECT_TRUE(state.merge(beside, Ids{}).empty());
  EXPECT_TRUE(state.take(beside, Ids{}).empty());
  EXPECT_TRUE(beside.take(state, Ids{}).empty());
  EXPECT_TRUE(state.extract(Ids{}).rows().empty());
  EXPECT_TRUE(beside.rows().empty());
  EXPECT_EQ(Whole(state), before);
}

void expect_ended_step_untouched(
    State& state,
    RowId row,
    const Sequence& sequence,
    bool commit) {
  const RowAppend append{row, 3};
  Step step = state.begin({&append, 1});
  run_layers(step, {{&sequence, state.length(row).get(), 3}});
  commit ? step.commit_all() : step.rollback();
  const Whole before(state);
  step.rollback();
  step.rollback();
  EXPECT_EQ(Whole(state), before);
}

void expect_books_untouched(PaddedInput input, RowId gone) {
  const Books before(input);
  EXPECT_FALSE(input.remove(gone));
  input.filter(input.order());
  input.reorder(input.order());
  input.advance({});
  input.merge(PaddedInput({}, 4), {});
  EXPECT_EQ(Books(input), before);
  if (input.finished()) {
    input.finalize();
    const Books ended(input);
    input.finalize();
    EXPECT_EQ(Books(input), ended);
    EXPECT_EQ(ended, before);
  }
}

TEST(StateRows, DoNothingWhereTheDocsSay) {
  const Sequence a(150, 81);
  const Sequence b(150, 82);
  State state(options("q8"));
  const RowId gone = state.add_row();
  const RowId row_a = state.add_row();
  const RowId row_b = state.add_row();
  state.add_row(); // empty
  state.remove_row(gone);
  append_to(state, row_a, {&a, 0, 130});
  append_to(state, row_b, {&b, 0, 5});
  expect_rows_untouched(state, gone);
  expect_ended_step_untouched(state, row_a, a, true);
  expect_ended_step_untouched(state, row_a, a, false);

  const LayerView pinned = state.view(Ids{row_a}, LayerIndex(1)).pin();
  const Whole before(state);
  const LayerView again = pinned.pin();
  EXPECT_EQ(Whole(state), before);
  EXPECT_EQ(again.bytes(), pinned.bytes());
  EXPECT_EQ(again.length(row_a), pinned.length(row_a));

  PaddedInput input(
      std::vector<PaddedInput::Row>{
          {.row = row_a, .left = 2, .length = 6},
          {.row = row_b, .left = 0, .length = 8}},
      8);
  expect_books_untouched(input, gone);
  input.open(5);
  expect_books_untouched(input, gone);
  const auto all = [](RowId, int64_t wanted, BidirectionalSpans) {
    return wanted;
  };
  input.advance(input.piece(all));
  input.open(3);
  input.advance(input.piece(all));
  ASSERT_TRUE(input.finished());
  expect_books_untouched(input, gone);
  // Without padding there is nothing to finalize, and the rows are as they are.
  PaddedInput plain(
      std::vector<PaddedInput::Row>{{.row = row_a, .left = 0, .length = 2}}, 2);
  plain.open(2);
  plain.advance(plain.piece(all));
  expect_books_untouched(plain, gone);
  EXPECT_EQ(Whole(state), before);
}

TEST(StateRows, KeepWhatWaitsToBeTakenWhereTheyKeepItAlready) {
  const Sequence a(150, 83);
  State state(options());
  const RowId row = state.add_row();
  state.keep_sealed(row, true);
  append_to(state, row, {&a, 0, 130});
  const Whole before(state);
  state.keep_sealed(row, true);
  EXPECT_EQ(Whole(state), before);
  EXPECT_EQ(state.take_sealed(row).size(), 4u); // two blocks of two groups
}

TEST(StateRows, AreFetchedAndViewedAsCommittedWhileAStepIsOpen) {
  const Sequence a(150, 84);
  State state(options());
  const RowId row = state.add_row();
  append_to(state, row, {&a, 0, 70});
  const FetchedChannels want = state.fetch(row, LayerIndex(0));
  const RowAppend append{row, 9};
  Step step = state.begin({&append, 1});
  run_layers(step, {{&a, 70, 9}});
  const FetchedChannels got = state.fetch(row, LayerIndex(0));
  EXPECT_EQ(got.positions, want.positions);
  EXPECT_TRUE(same_bits(got.keys, want.keys));
  EXPECT_TRUE(same_bits(got.values, want.values));
  const LayerView view = state.view(Ids{row}, LayerIndex(0));
  expect_error(ErrorCode::kInvalidArgument, [&] { view.length(row); });
  expect_error(ErrorCode::kInvalidArgument, [&] { state.fork_row(row); });
  expect_error(
      ErrorCode::kInvalidArgument, [&] { state.keep_sealed(row, true); });
  step.commit_all();
  EXPECT_EQ(view.length(row), Position(79));
}

} // namespace
} // namespace holdfast
