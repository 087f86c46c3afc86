// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a padded input takes of a caller is bounded before it is added up.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "holdfast/rows/chain.h"
#include "holdfast/rows/padded.h"
#include "tests/code_of.h"

namespace holdfast {
namespace {

using testing::ElementsAre;
using Ids = std::vector<RowId>;
using Rows = std::vector<PaddedInput::Row>;

int64_t all(RowId, int64_t wanted, BidirectionalSpans) {
  return wanted;
}

struct Three {
  Batch batch;
  RowId a = batch.add();
  RowId b = batch.add();
  RowId c = batch.add();
};

TEST(PaddedInput, RefusesMorePlacesAndPositionsThanThereAreNumbers) {
  constexpr int64_t kMost = kMaxPositions.get();
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  Three r;
  const auto bad = ErrorCode::kInvalidArgument;
  const auto build = [&](PaddedInput::Row row, int64_t width) {
    return code_of([&] { PaddedInput(Rows{std::move(row)}, width); });
  };
  EXPECT_EQ(build({r.a, 0, 1}, kMost + 1), bad);
  EXPECT_EQ(build({r.a, 0, 1}, kHuge), bad);
  EXPECT_EQ(build({r.a, kHuge, kHuge}, kHuge), bad);
  EXPECT_EQ(code_of([] { PaddedInput(Rows{}, -1); }), bad);
  for (const int64_t first : {kMost, kMost - 3, kHuge, kHuge - 3}) {
    EXPECT_EQ(
        build({.row = r.a, .length = 4, .first = Position(first)}, 4), bad);
    EXPECT_EQ(
        build(
            {.row = r.a,
             .length = 4,
             .spans = {{Position(first - 2), Position(first)}},
             .first = Position(first)},
            4),
        bad);
  }
  EXPECT_EQ(
      build({.row = r.a, .length = 4, .first = kMaxPositions - Position(4)}, 4),
      ErrorCode::kOk);

  PaddedInput input(Rows{{r.a, 0, 6}, {r.b, 1, 4}}, 6);
  EXPECT_EQ(code_of([&] { input.open(kHuge); }), bad);
  EXPECT_EQ(code_of([&] { input.open(kMost); }), bad); // twice as many places
  EXPECT_EQ(code_of([&] { input.fit_columns(kHuge); }), bad);
  EXPECT_EQ(input.columns(), 0);
  EXPECT_EQ(input.batch(), 0);
  PaddedInput other = input;
  input.open(kMost / 2);
  other.open(kMost / 2);
  EXPECT_EQ(code_of([&] { input.merge(other, Ids{r.c, RowId{9, 9}}); }), bad);
  EXPECT_THAT(input.order(), ElementsAre(r.a, r.b));
  const auto most = [](RowId, int64_t, BidirectionalSpans) { return kHuge; };
  EXPECT_EQ(code_of([&] { input.piece(most); }), bad);
  const PaddedPiece piece = input.piece(all);
  EXPECT_EQ(piece.appends[0].count, 6);
  EXPECT_EQ(piece.appends[1].count, 4);
}

TEST(PaddedInput, AdvancesByItsNextPieceAlone) {
  Three r;
  PaddedInput input(Rows{{r.a, 0, 6}, {r.b, 1, 4}}, 6);
  input.open(6);
  const auto two = [](RowId, int64_t, BidirectionalSpans) { return 2; };
  const PaddedPiece piece = input.piece(two);
  EXPECT_EQ(piece.batch, 2);
  EXPECT_EQ(piece.columns, 6);
  const auto refused = [&](const PaddedPiece& other) {
    const int64_t fed = input.fed(r.a);
    EXPECT_EQ(
        code_of([&] { input.advance(other); }), ErrorCode::kInvalidArgument);
    EXPECT_EQ(input.fed(r.a), fed);
  };
  PaddedPiece other = piece;
  other.appends[0].count = -1;
  refused(other);
  other.appends[0].count = std::numeric_limits<int64_t>::max();
  refused(other);
  other = piece;
  other.appends[1] = other.appends[0]; // the first row twice
  refused(other);
  other = piece;
  std::swap(other.places.front(), other.places.back());
  refused(other);
  input.advance(piece);
  refused(piece); // again
  input.advance(input.piece(two));
  EXPECT_EQ(input.fed(r.a), 4);
}

} // namespace
} // namespace holdfast
