// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A live view follows its rows, and its arrays are stale once these change. It
// changes nothing itself, and refuses positions that are not its rows'.

#include <limits>

#include "tests/state/failing_codec.h"
#include "tests/state/view_rig.h"

namespace holdfast {
namespace {

using namespace test;

std::vector<ViewQueries> at_end(const State& state, RowId row, int64_t n = 1) {
  return {{.row = row, .count = n, .start = state.length(row)}};
}

void expect_stale(mx::array late) {
  const std::string text =
      expect_error(ErrorCode::kStale, [&] { mx::eval({late}); });
  EXPECT_NE(text.find("[LayerView]"), std::string::npos) << text;
}

TEST(LiveView, FollowsCommitsAndRollbacks) {
  const Sequence sequence(200, 21);
  State state(view_options());
  const RowId row = feed_new(state, sequence, 100);
  const LayerView view = state.view({&row, 1}, kFullReader);
  const auto before = read_view(view, row, {&sequence, 100, 1});
  {
    const RowAppend append{row, 50};
    Step step = state.begin({&append, 1});
    run_readers(step, {&sequence, 100, 50});
  }
  EXPECT_EQ(view.length(row), Position(100));
  EXPECT_TRUE(same_bits(before, read_view(view, row, {&sequence, 100, 1})));
  const RowAppend append{row, 50};
  Step step = state.begin({&append, 1});
  const Read2 want = run_readers(step, {&sequence, 100, 50});
  const int64_t kept = 30;
  step.commit({&kept, 1});
  EXPECT_EQ(view.length(row), Position(130));
  EXPECT_TRUE(same_bits(
      {want.full.begin(), want.full.begin() + kept * kHeads * kDim},
      read_view(view, row, {&sequence, 100, kept})));
}

TEST(LiveView, IsNotEvaluatedOverARowThatHasChanged) {
  const Sequence sequence(300, 22);
  const Sequence other(300, 23);
  State state(view_options({"q8", "q8", 128}));
  State sibling = state.sibling();
  const auto q = queries_of({&sequence, 0, 1});
  const auto change = [&](const auto& how) {
    const RowId row = feed_new(state, sequence, 100);
    const LayerView view = state.view({&row, 1}, kFullLayer);
    auto late = view.attend(q, at_end(state, row));
    how(row);
    expect_stale(late);
    expect_stale(late); // also asked again
    state.remove_row(row);
    mx::eval({mx::add(q, q, state.stream())}); // the stream is as it was
  };
  const auto step = [&](RowId row, int64_t count, int64_t accepted) {
    const RowAppend append{row, count};
    Step open = state.begin({&append, 1});
    run_readers(open, {&other, 100, count});
    open.commit({&accepted, 1});
  };
  change([&](RowId row) { step(row, 20, 20); });
  change([&](RowId row) { step(row, 20, 3); });
  change([&](RowId row) { step(row, 20, 0); });
  change([&](RowId row) {
    const RowAppend append{row, 20};
    Step open = state.begin({&append, 1});
    run_readers(open, {&other, 100, 20});
  });
  change([&](RowId row) { // as long as before, of other tokens
    state.trim(row, Position(90));
    feed_readers(state, row, {&other, 90, 10});
  });
  change([&](RowId row) { state.trim(row, Position(0)); });
  change([&](RowId row) { state.remove_row(row); });
  change([&](RowId) { state.filter({}); });
  change([&](RowId row) { sibling.take(state, {&row, 1}); });
}

TEST(LiveView, IsStaleWithItsState) {
  const Sequence sequence(100, 24);
  std::optional<LayerView> view;
  std::optional<mx::array> late;
  std::optional<mx::array> begun;
  std::vector<float> want;
  std::vector<ViewQueries> queries;
  const auto q = queries_of({&sequence, 0, 1});
  {
    State state(view_options());
    const RowId row = feed_new(state, sequence, 100);
    view = state.view({&row, 1}, kFullLayer);
    queries = at_end(state, row);
    want = read_view(*view, q, queries);
    late = view->attend(q, queries);
    begun = view->attend(q, queries);
    mx::async_eval({*begun});
  }
  EXPECT_TRUE(same_bits(want, values_of((mx::eval({*begun}), *begun))));
  expect_stale(*late);
  expect_error(ErrorCode::kStale, [&] { view->attend(q, queries); });
  expect_error(ErrorCode::kStale, [&] { view->length(queries[0].row); });
  expect_error(ErrorCode::kStale, [&] { view->pin(); });
}

TEST(LiveView, IsAnsweredWhereItHasBegunBeforeTheChange) {
  const Sequence sequence(400, 25);
  const Sequence other(400, 26);
  State state(view_options({"bf16", "q8"}));
  const auto q = queries_of({&sequence, 0, 60});
  for (int round = 0; round < 8; ++round) {
    const RowId row = feed_new(state, sequence, 200);
    const LayerView view = state.view({&row, 1}, kFullLayer);
    const auto want = read_view(view, q, at_end(state, row, 60));
    auto late = view.attend(q, at_end(state, row, 60));
    mx::async_eval({late});
    if (round % 2) {
      state.trim(row, Position(195));
      feed_readers(state, row, {&other, 195, 60});
    } else {
      state.remove_row(row);
      feed_new(state, other, 200); // in the same memory
    }
    mx::eval({late});
    ASSERT_TRUE(same_bits(want, values_of(late))) << round;
    state.filter({});
  }
}

TEST(LiveView, StaysGoodWhileOthersChange) {
  const Sequence sequence(200, 27);
  State state(view_options());
  const RowId row = feed_new(state, sequence, 100);
  const RowId other = feed_new(state, sequence, 90);
  const RowId third = state.fork_row(row);
  const std::vector<RowId> rows{row, other};
  const LayerView view = state.view(rows, kFullLayer);
  const auto q = queries_of({&sequence, 0, 1});
  auto late = view.attend(q, at_end(state, row));
  feed_readers(state, other, {&sequence, 90, 40});
  state.remove_row(third);
  state.fork_row(row);
  const std::vector<int32_t> tokens(100, 7);
  const Snapshot snapshot = state.snapshot(row, tokens);
  state.trim(row, Position(100)); // to its length: nothing
  expect_error(
      ErrorCode::kInvalidArgument, [&] { state.trim(row, Position(101)); });
  const RowAppend append{other, 20};
  Step step = state.begin({&append, 1});
  auto within = view.attend(q, at_end(state, row));
  mx::eval({late, within});
  EXPECT_TRUE(same_bits(values_of(late), values_of(within)));
}

TEST(LiveView, IsRefusedOverARowWithAnOpenStep) {
  const Sequence sequence(200, 28);
  State state(view_options());
  const RowId row = feed_new(state, sequence, 100);
  const LayerView view = state.view({&row, 1}, kFullLayer);
  const auto q = queries_of({&sequence, 0, 1});
  const auto queries = at_end(state, row);
  const RowAppend append{row, 20};
  Step step = state.begin({&append, 1});
  const auto refuses = [&](const auto& call) {
    expect_error(ErrorCode::kInvalidArgument, call);
  };
  refuses([&] { view.attend(q, queries); });
  refuses([&] { view.length(row); });
  refuses([&] { view.pin(); });
  run_readers(step, {&sequence, 100, 20});
  step.commit_all();
  EXPECT_EQ(view.length(row), Position(120));
}

TEST(LiveView, DoesNotConvertARowThatIsDue) {
  const Sequence sequence(200, 29);
  State state(view_options({"q4", "t3", 100}));
  State never(view_options());
  const RowId row = feed_new(state, sequence, 100);
  const RowId dense = feed_new(never, sequence, 100);
  const auto stored = state.fetch(row, kFullLayer);
  const Bytes before = state.bytes();
  const Bytes peak = state.peak_bytes();
  const auto want = read_view(
      never.view({&dense, 1}, kFullLayer), dense, {&sequence, 100, 3});
  const LayerView view = state.view({&row, 1}, kFullLayer);
  EXPECT_TRUE(same_bits(want, read_view(view, row, {&sequence, 100, 3})));
  EXPECT_EQ(state.bytes(), before);
  EXPECT_EQ(state.peak_bytes(), peak);
  EXPECT_EQ(state.fetch(row, kFullLayer).keys, stored.keys);
  const auto late =
      view.attend(queries_of({&sequence, 100, 1}), at_end(state, row));
  const LayerView pinned = view.pin();
  feed_readers(state, row, {&sequence, 100, 1}); // converts
  expect_stale(late);
  EXPECT_NE(state.fetch(row, kFullLayer).keys, stored.keys);
  EXPECT_FALSE(same_bits(want, read_view(view, row, {&sequence, 100, 3})));
  EXPECT_TRUE(same_bits(want, read_view(pinned, row, {&sequence, 100, 3})));
}

TEST(LiveView, IsRefusedWhereAChangeOfPrecisionWasBrokenOff) {
  const Sequence sequence(300, 30);
  Failing codec;
  StateOptions with_codec = view_options();
  with_codec.precision.phases.push_back(
      {.keys = &codec, .values = &codec, .start = Position(200)});
  State state(with_codec);
  const RowId row = feed_new(state, sequence, 200);
  const LayerView view = state.view({&row, 1}, kFullLayer);
  const auto q = queries_of({&sequence, 0, 1});
  const auto queries = at_end(state, row);
  auto late = view.attend(q, queries);
  codec.fail(300, kNever); // within the second block of 256 vectors
  const RowAppend append{row, 1};
  EXPECT_THROW(state.begin({&append, 1}), std::exception);
  codec.fail(kNever, kNever);
  expect_stale(late);
  expect_error(ErrorCode::kUnsupported, [&] { view.attend(q, queries); });
  expect_error(ErrorCode::kUnsupported, [&] { view.pin(); });
  feed_readers(state, row, {&sequence, 200, 1});
  read_view(view, q, at_end(state, row));
}

TEST(LiveView, HoldsNoBytes) {
  const Sequence sequence(200, 31);
  State state(view_options());
  const RowId row = feed_new(state, sequence, 150);
  const Bytes before = state.bytes();
  const LayerView view = state.view({&row, 1}, kFullLayer);
  auto late = view.attend(queries_of({&sequence, 0, 1}), at_end(state, row));
  EXPECT_EQ(view.bytes(), Bytes(0));
  EXPECT_EQ(state.bytes(), before);
  mx::eval({late});
  EXPECT_EQ(state.bytes(), before);
  late = view.attend(queries_of({&sequence, 0, 1}), at_end(state, row));
  state.remove_row(row);
  EXPECT_EQ(state.bytes(), Bytes(0));
}

TEST(LiveView, RefusesAQueryThatSeesNoKey) {
  const Sequence sequence(300, 32);
  State state(view_options());
  const RowId row = feed_new(state, sequence, 200);
  const RowId empty = state.add_row();
  const std::vector<RowId> rows{row, empty};
  const LayerView full = state.view(rows, kFullLayer);
  const LayerView sliding = state.view(
      rows,
      kSlidingLayer,
      ReaderSpec{.query_heads = kHeads, .visibility = {.window = 50}});
  const auto refuses = [&](const LayerView& view, ViewQueries queries) {
    const auto q = queries_of({&sequence, 0, queries.count});
    expect_error(
        ErrorCode::kInvalidArgument, [&] { view.attend(q, {{queries}}); });
  };
  const auto range = [](int64_t begin, int64_t end) {
    return PositionRange{Position(begin), Position(end)};
  };
  refuses(full, {empty, 1, Position(0)});
  refuses(full, {row, 1, Position(10), range(20, 20)});
  refuses(full, {row, 1, Position(10), range(30, 20)});
  refuses(full, {row, 1, Position(10), range(150, 201)});
  refuses(full, {row, 1, Position(10), range(-1, 20)});
  refuses(full, {row, 1, Position(10), range(11, 20)}); // all come later
  refuses(full, {row, 2, Position(10), range(11, 20)}); // for the first alone
  refuses(sliding, {row, 1, Position(249)});
  refuses(sliding, {row, 2, Position(248)});
  refuses(sliding, {row, 1, Position(248), range(150, 199)});
  EXPECT_EQ(
      read_view(
          sliding,
          queries_of({&sequence, 0, 1}),
          {{.row = row, .count = 1, .start = Position(248)}})
          .size(),
      kHeads * kDim);
}

// 2^31 - 1, as many again and 6 are 4 in 32 bits.
TEST(LiveView, RefusesMoreQueriesThanItsArrayHas) {
  const Sequence sequence(200, 34);
  State state(view_options());
  const RowId row = feed_new(state, sequence, 100);
  const LayerView view = state.view({&row, 1}, kFullLayer);
  const auto q = queries_of({&sequence, 0, 4});
  const int64_t most = kMaxPositions.get();
  const auto refuses = [&](std::vector<int64_t> counts) {
    std::vector<ViewQueries> queries;
    for (const int64_t count : counts) {
      queries.push_back({.row = row, .count = count, .start = Position(0)});
    }
    for (const LayerView& each : {view, view.pin()}) {
      expect_error(
          ErrorCode::kInvalidArgument, [&] { each.attend(q, queries); });
    }
  };
  refuses({most, most, 6});
  refuses({most, 1, 4});
  refuses({most}); // and not after a look at each
  refuses({std::numeric_limits<int64_t>::max(), 4});
  refuses({-4, 8});
  refuses({5});
  EXPECT_EQ(
      std::ssize(read_view(view, q, at_end(state, row, 4))), 4 * kHeads * kDim);
}

} // namespace
} // namespace holdfast
