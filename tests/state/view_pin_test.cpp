// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A pinned view is what its rows were, whatever becomes of them.

#include "tests/state/view_rig.h"

namespace holdfast {
namespace {

using namespace test;

TEST(PinnedView, SurvivesWhateverHappensToItsRowsAndTheirState) {
  const Sequence sequence(500, 41);
  const Sequence other(500, 42);
  for (const Storage& storage :
       {Storage{}, Storage{"f32", "q4"}, Storage{"t4", "t4", 150}}) {
    auto state = std::make_optional<State>(view_options(storage));
    State sibling = state->sibling();
    const RowId row = feed_new(*state, sequence, 150);
    const RowId short_row = feed_new(*state, other, 30);
    const std::vector<RowId> rows{row, short_row};
    const auto q = queries_of({&sequence, 0, 5});
    const std::vector<ViewQueries> queries{
        {.row = short_row, .count = 2, .start = Position(28)},
        {.row = row, .count = 3, .start = Position(150)}};
    std::vector<LayerView> views;
    std::vector<std::vector<float>> want;
    std::vector<mx::array> late;
    for (const LayerIndex layer : {kFullReader, kSlidingReader}) {
      const LayerView live = state->view(rows, layer);
      views.push_back(live.pin());
      want.push_back(read_view(live, q, queries));
      late.push_back(views.back().attend(q, queries));
      EXPECT_TRUE(views.back().pinned());
      EXPECT_EQ(views.back().length(row), Position(150));
    }
    const auto expect_same = [&](const char* after) {
      for (size_t i = 0; i < views.size(); ++i) {
        ASSERT_TRUE(same_bits(want[i], read_view(views[i], q, queries)))
            << after << ", view " << i;
      }
    };
    feed_readers(*state, short_row, {&sequence, 30, 100});
    expect_same("a commit");
    feed_readers(*state, row, {&other, 150, 150}); // converts, and releases
    expect_same("a conversion, and the window has passed");
    state->trim(short_row, Position(10));
    feed_readers(*state, short_row, {&other, 10, 100});
    expect_same("a trim and other tokens");
    sibling.take(*state, {&row, 1});
    expect_same("the row went to a sibling");
    state->filter({});
    feed_new(*state, other, 200);
    expect_same("the rows are gone");
    sibling.filter({});
    state.reset();
    expect_same("the state is gone");
    feed_new(sibling, other, 200);
    expect_same("others use the pool");
    mx::eval(late);
    for (size_t i = 0; i < late.size(); ++i) {
      EXPECT_TRUE(same_bits(want[i], values_of(late[i])));
    }
  }
}

TEST(PinnedView, OutlivesThePool) {
  const Sequence sequence(200, 43);
  std::optional<LayerView> view;
  std::optional<mx::array> late;
  std::vector<float> want;
  std::optional<RowId> row;
  {
    State state(view_options({"q8", "t4"}));
    row = feed_new(state, sequence, 150);
    view = state.view({&*row, 1}, kFullLayer).pin();
    want = read_view(*view, *row, {&sequence, 150, 2});
    late = view->attend(
        queries_of({&sequence, 150, 2}),
        {{{.row = *row, .count = 2, .start = Position(150)}}});
  }
  EXPECT_TRUE(same_bits(want, read_view(*view, *row, {&sequence, 150, 2})));
  view.reset(); // the array still holds what it reads
  mx::eval({*late});
  EXPECT_TRUE(same_bits(want, values_of(*late)));
}

TEST(PinnedView, CountsItsWholeImagesAndGivesThemBack) {
  const Sequence sequence(300, 44);
  State state(view_options());
  const RowId row = feed_new(state, sequence, 150);
  const Bytes before = state.bytes();
  const Bytes retained = state.retained_bytes(row);
  auto view = std::make_optional(state.view({&row, 1}, kFullLayer).pin());
  // Three blocks of the full layer's group; the third is a copy.
  const Bytes image((state.bytes() - before).get());
  EXPECT_GT(image, Bytes(0));
  EXPECT_EQ(view->bytes(), Bytes(3 * image.get()));
  EXPECT_EQ(state.retained_bytes(row), retained);
  const LayerView copy = view->pin();
  EXPECT_EQ(state.bytes(), before + image);
  state.remove_row(row);
  EXPECT_EQ(state.bytes(), view->bytes());
  view.reset();
  EXPECT_EQ(state.bytes(), copy.bytes());
  { const LayerView last = copy; }
  EXPECT_EQ(state.bytes(), Bytes(3 * image.get()));
}

TEST(PinnedView, IsDroppedWithItsLastHandleAndArray) {
  const Sequence sequence(300, 45);
  State state(view_options());
  const RowId row = feed_new(state, sequence, 150);
  const Bytes before = state.bytes();
  std::optional<mx::array> late;
  for (int round = 0; round < 3; ++round) {
    const LayerView view = state.view({&row, 1}, kFullLayer).pin();
    late = view.attend(
        queries_of({&sequence, 150, 1}),
        {{{.row = row, .count = 1, .start = Position(150)}}});
  }
  EXPECT_GT(state.bytes(), before);
  late.reset();
  EXPECT_EQ(state.bytes(), before);
}

TEST(PinnedView, IsRefusedOverTheBudgetBeforeAnythingChanges) {
  const Sequence sequence(300, 46);
  State measured(view_options());
  feed_new(measured, sequence, 150);
  feed_new(measured, sequence, 70);
  StateOptions tight = view_options();
  tight.max_bytes = measured.bytes(); // not even one tail more
  State state(tight);
  const RowId row = feed_new(state, sequence, 150);
  const RowId other = feed_new(state, sequence, 70);
  const std::vector<RowId> rows{row, other};
  const Bytes before = state.bytes();
  const LayerView view = state.view(rows, kFullLayer);
  const auto want = read_view(view, row, {&sequence, 150, 3});
  auto late = view.attend(
      queries_of({&sequence, 150, 3}),
      {{{.row = row, .count = 3, .start = Position(150)}}});
  expect_error(ErrorCode::kOutOfBudget, [&] { view.pin(); });
  EXPECT_EQ(state.bytes(), before);
  EXPECT_FALSE(view.pinned());
  mx::eval({late});
  EXPECT_TRUE(same_bits(want, values_of(late)));
  feed_readers(state, row, {&sequence, 150, 10});
  state.trim(row, Position(128)); // no tail
  state.remove_row(other);
  const LayerView pinned = state.view({&row, 1}, kFullLayer).pin();
  read_view(pinned, row, {&sequence, 128, 1});
}

} // namespace
} // namespace holdfast
