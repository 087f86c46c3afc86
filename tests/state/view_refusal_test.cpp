// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a view of a layer refuses, and by which kind of error.

#include <limits>
#include <string>
#include <vector>

#include "holdfast/plan/layer_bounds.h"
#include "tests/state/view_rig.h"

namespace holdfast {
namespace {

using namespace test;

/// A row of 400 positions, of which readers are made that are refused.
class RefusedView : public testing::Test {
 protected:
  template <class Call>
  static std::string refuses(const Call& call) {
    return expect_error(ErrorCode::kInvalidArgument, call);
  }
  LayerView view_of(const ReaderSpec& reader) {
    return state.view({&row, 1}, kFullLayer, reader);
  }

  const Sequence sequence{500, 33};
  State state{view_options()};
  const RowId row = feed_new(state, sequence, 400);
  const mx::array q = queries_of({&sequence, 0, 1});
};

TEST_F(RefusedView, HasHeadsCapsWindowsAndSinksThatAreNone) {
  refuses([&] { view_of({.query_heads = 3}); });
  refuses([&] { view_of({.query_heads = 2 * kMaxHeads}); });
  refuses([&] { view_of({.query_heads = 4, .softcap = -1.0f}); });
  refuses([&] { view_of({.query_heads = 4, .visibility = {.window = -1}}); });
  // As "all": its sum with a position would wrap, and a query would have no
  // block to read.
  const int64_t wraps = std::numeric_limits<int64_t>::max();
  refuses(
      [&] { view_of({.query_heads = 4, .visibility = {.window = wraps}}); });
  refuses([&] {
    view_of({.query_heads = 4, .visibility = {.window = 9, .sinks = wraps}});
  });
  refuses([&] { view_of({.query_heads = 4, .sink_logits = {1.0f}}); });
}

TEST_F(RefusedView, IsOfRowsOrALayerThatTheStateHasNot) {
  refuses([&] { state.view({&row, 1}, LayerIndex(4)); });
  refuses([&] { state.view({}, kFullLayer); });
  const std::vector<RowId> twice{row, row};
  refuses([&] { state.view(twice, kFullLayer); });
  const RowId unknown = state.sibling().add_row();
  expect_error(ErrorCode::kNotFound, [&] {
    state.view({&unknown, 1}, kFullLayer);
  });
  StateOptions with_recurrent = view_options();
  with_recurrent.layers.push_back(RecurrentSpec{
      .key_heads = 1,
      .value_heads = 1,
      .key_dim = 32,
      .value_dim = 32,
      .taps = 4});
  State mixed(with_recurrent);
  const RowId of_mixed = mixed.add_row();
  expect_error(ErrorCode::kUnsupported, [&] {
    mixed.view({&of_mixed, 1}, LayerIndex(4));
  });
}

TEST_F(RefusedView, IsAskedForQueriesThatAreNotOfItsRows) {
  const LayerView view = state.view({&row, 1}, kFullLayer);
  const RowId unknown = state.sibling().add_row();
  expect_error(ErrorCode::kNotFound, [&] {
    view.attend(q, {{{unknown, 1, Position(400)}}});
  });
  refuses([&] { view.attend(q, {}); });
  refuses([&] { view.attend(q, {{{row, 0, Position(400)}}}); });
  refuses([&] { view.attend(q, {{{row, 1, Position(-1)}}}); });
  refuses([&] { view.attend(q, {{{row, 1, kMaxPositions}}}); });
  const std::string text = refuses([&] {
    view.attend(q, {{{row, 2, Position(400)}}});
  });
  EXPECT_NE(
      text.find("[LayerView::attend] expected q [2, 4, 64] float32, got "
                "[1, 4, 64] float32"),
      std::string::npos)
      << text;
}

TEST_F(RefusedView, AsksForWhatASlidingLayerHasReleased) {
  const LayerView wide =
      state.view({&row, 1}, kSlidingLayer, ReaderSpec{.query_heads = kHeads});
  expect_error(ErrorCode::kUnsupported, [&] {
    wide.attend(q, {{{row, 1, Position(400)}}});
  });
  read_view(
      wide,
      q,
      {{.row = row,
        .count = 1,
        .start = Position(400),
        .seen = PositionRange{Position(300), Position(400)}}});
}

} // namespace
} // namespace holdfast
