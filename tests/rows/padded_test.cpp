// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/rows/padded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "tests/code_of.h"

namespace holdfast {
namespace {

using testing::ElementsAre;
using Ids = std::vector<RowId>;
using Rows = std::vector<PaddedInput::Row>;

/// As many as there are.
int64_t all(RowId, int64_t wanted, BidirectionalSpans) {
  return wanted;
}

struct Three {
  Batch batch;
  RowId a = batch.add();
  RowId b = batch.add();
  RowId c = batch.add();
};

std::vector<int64_t> counts(const PaddedPiece& piece) {
  std::vector<int64_t> result;
  for (const RowAppend& append : piece.appends) {
    result.push_back(append.count);
  }
  return result;
}

TEST(PaddedInput, TakesTheTokensOfLeftAndRightPaddedRows) {
  Three r;
  PaddedInput input(Rows{{r.a, 0, 6}, {r.b, 4, 2}, {r.c, 1, 3}}, 6);
  EXPECT_EQ(input.valid_end(r.b), 6);
  EXPECT_EQ(input.valid_end(r.c), 4);
  input.open(3);
  const PaddedPiece first = input.piece(all);
  EXPECT_THAT(counts(first), ElementsAre(3, 2)); // b is padding so far
  EXPECT_THAT(first.places, ElementsAre(0, 1, 2, 7, 8));
  input.advance(first);
  EXPECT_TRUE(input.piece(all).appends.empty());
  input.open(3);
  const PaddedPiece second = input.piece(all);
  EXPECT_THAT(counts(second), ElementsAre(3, 2, 1));
  EXPECT_THAT(second.places, ElementsAre(0, 1, 2, 4, 5, 6));
  input.advance(second);
  EXPECT_TRUE(input.finished());
  input.finalize();
}

TEST(PaddedInput, CutsARowWhereItsLimitIsAndNoOther) {
  Three r;
  PaddedInput input(Rows{{r.a, 0, 5}, {r.b, 1, 4}}, 5);
  input.open(5);
  std::map<uint32_t, int64_t> room{{r.a.slot, 2}, {r.b.slot, 9}};
  const auto limit = [&](RowId row, int64_t wanted, BidirectionalSpans) {
    return std::min(wanted, room[row.slot]);
  };
  const PaddedPiece first = input.piece(limit);
  EXPECT_THAT(counts(first), ElementsAre(2, 4));
  input.advance(first);
  EXPECT_EQ(code_of([&] { input.open(1); }), ErrorCode::kInvalidArgument);
  room[r.a.slot] = 9;
  const PaddedPiece second = input.piece(limit);
  EXPECT_THAT(counts(second), ElementsAre(3));
  EXPECT_THAT(second.places, ElementsAre(2, 3, 4));
  input.advance(second);
  EXPECT_TRUE(input.finished());
}

TEST(PaddedInput, NeverAsksForEmptyRows) {
  Three r;
  PaddedInput input(Rows{{r.a, 3, 0}, {r.b, 0, 0}, {r.c, 0, 1}}, 3);
  input.open(1);
  const PaddedPiece piece = input.piece(all);
  EXPECT_THAT(counts(piece), ElementsAre(1));
  input.advance(piece);
  EXPECT_TRUE(input.finished()); // the width is never reached
  input.finalize();
  const PaddedInput none(Rows{}, 0);
  EXPECT_TRUE(none.finished());
}

// A cohort ends before its planned width when its longest row leaves.
TEST(PaddedInput, FinishesEarlyWhenTheLongestRowLeaves) {
  Three r;
  PaddedInput input(Rows{{r.a, 0, 9}, {r.b, 0, 2}}, 9);
  input.open(3);
  input.advance(input.piece(all));
  EXPECT_FALSE(input.finished());
  EXPECT_EQ(code_of([&] { input.finalize(); }), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(input.remove(r.a));
  EXPECT_FALSE(input.remove(r.a)); // cancelled twice
  EXPECT_TRUE(input.finished());
  input.finalize();
}

// Rows are filtered before anything was written.
TEST(PaddedInput, CanBeFilteredBeforeTheFirstColumn) {
  Three r;
  PaddedInput input(Rows{{r.a, 2, 4}, {r.b, 0, 6}, {r.c, 5, 1}}, 6);
  input.filter(Ids{r.a});
  input.open(4);
  const PaddedPiece piece = input.piece(all);
  EXPECT_THAT(piece.appends.size(), 1u);
  EXPECT_THAT(piece.places, ElementsAre(2, 3));
}

// What is known of the padding follows the rows between prepare and
// finalize.
TEST(PaddedInput, KeepsItsBooksThroughFilterReorderExtractAndMerge) {
  Three r;
  PaddedInput input(Rows{{r.a, 0, 5}, {r.b, 0, 2}, {r.c, 0, 4}}, 5);
  input.open(3);
  input.advance(input.piece(all));
  input.filter(Ids{r.c, r.a});
  EXPECT_THAT(input.order(), ElementsAre(r.c, r.a));
  input.open(2);
  const PaddedPiece piece = input.piece(all);
  EXPECT_THAT(counts(piece), ElementsAre(1, 2));
  EXPECT_THAT(piece.places, ElementsAre(0, 2, 3));

  // Out of the open columns, then behind another input, then on.
  Three other;
  const PaddedInput copy = input.extract(Ids{r.a}, Ids{other.b});
  EXPECT_EQ(copy.valid_end(other.b), 5);
  EXPECT_THAT(copy.piece(all).places, ElementsAre(2, 3));
  input.advance(piece);
  PaddedInput more(Rows{{other.a, 1, 3}}, 4);
  more.open(2);
  more.advance(more.piece(all));
  more.merge(input, Ids{other.b, other.c});
  EXPECT_EQ(more.fed(other.b), 4);
  EXPECT_EQ(more.valid_end(other.c), 5);
  more.reorder(Ids{other.c, other.a, other.b});
  more.open(2);
  EXPECT_THAT(more.piece(all).places, ElementsAre(2, 3));
  more.advance(more.piece(all));
  more.finalize();
}

TEST(PaddedInput, MergesRowsThatStandAtOtherColumns) {
  Three r;
  PaddedInput input(Rows{{r.a, 0, 8}}, 8);
  input.open(3);
  input.advance(input.piece(all));
  PaddedInput other(Rows{{r.b, 2, 5}}, 7);
  input.merge(other, Ids{r.c});
  input.open(5);
  const PaddedPiece piece = input.piece(all);
  EXPECT_THAT(counts(piece), ElementsAre(5, 3));
  EXPECT_THAT(piece.places, ElementsAre(0, 1, 2, 3, 4, 7, 8, 9));
  input.advance(piece);
  EXPECT_EQ(input.fed(r.c), 3);
}

TEST(PaddedInput, MergesWhileColumnsOfOneOrBothAreOpen) {
  Three r;
  Three other;
  const auto opened = [](RowId row, int64_t left, int64_t columns) {
    PaddedInput input(Rows{{row, left, 6}}, 9);
    input.open(columns);
    return input;
  };
  // This one's stay open; the other, which is fed, waits for the next.
  PaddedInput mine = opened(r.a, 1, 4);
  PaddedInput fed = opened(other.a, 0, 2);
  fed.advance(fed.piece(all));
  mine.merge(fed, Ids{r.b});
  EXPECT_THAT(mine.piece(all).places, ElementsAre(1, 2, 3));
  mine.advance(mine.piece(all));
  mine.open(3);
  EXPECT_THAT(mine.piece(all).places, ElementsAre(0, 1, 2, 3, 4, 5));

  // The other's stay open.
  PaddedInput behind = opened(r.a, 0, 2);
  behind.advance(behind.piece(all));
  behind.merge(opened(other.a, 1, 4), Ids{r.b});
  EXPECT_EQ(behind.columns(), 4);
  EXPECT_THAT(behind.piece(all).places, ElementsAre(1, 2, 3));
  behind.advance(behind.piece(all));
  EXPECT_EQ(behind.fed(r.a), 2);
  behind.open(2);
  EXPECT_THAT(behind.piece(all).places, ElementsAre(0, 1, 2, 3));

  // Both: one array behind the other, rows that left it included.
  PaddedInput both(Rows{{r.a, 0, 6}, {r.b, 2, 6}}, 9);
  both.open(4);
  both.remove(r.a);
  both.merge(opened(other.a, 1, 4), Ids{r.c});
  EXPECT_THAT(both.piece(all).places, ElementsAre(6, 7, 9, 10, 11));
  EXPECT_EQ(
      code_of([&] { both.merge(opened(other.b, 0, 3), Ids{other.b}); }),
      ErrorCode::kInvalidArgument);
  EXPECT_THAT(both.order(), ElementsAre(r.b, r.c));
}

TEST(PaddedInput, RefusesWhatDoesNotFitAndStaysAsItWas) {
  Three r;
  const auto build = [&](Rows rows, int64_t width) {
    return code_of([&] { PaddedInput(rows, width); });
  };
  const auto bad = ErrorCode::kInvalidArgument;
  EXPECT_EQ(build({{r.a, 3, 4}}, 6), bad);
  EXPECT_EQ(build({{r.a, -1, 4}}, 6), bad);
  EXPECT_EQ(build({{r.a, 0, -4}}, 6), bad);
  EXPECT_EQ(build({{r.a, 0, 1}, {r.a, 0, 1}}, 6), bad);
  PaddedInput input(Rows{{r.a, 0, 5}, {r.b, 0, 2}}, 5);
  EXPECT_EQ(code_of([&] { input.open(0); }), bad);
  EXPECT_EQ(code_of([&] { input.filter(Ids{r.a, r.a}); }), bad);
  EXPECT_EQ(code_of([&] { input.filter(Ids{r.c}); }), ErrorCode::kNotFound);
  EXPECT_EQ(code_of([&] { input.reorder(Ids{r.a}); }), bad);
  EXPECT_EQ(code_of([&] { input.merge(input, Ids{r.a, r.c}); }), bad);
  EXPECT_EQ(code_of([&] { input.extract(Ids{r.a}, Ids{}); }), bad);
  EXPECT_THAT(input.order(), ElementsAre(r.a, r.b));
  input.open(5);
  PaddedPiece piece = input.piece(all);
  ++piece.appends[0].count;
  EXPECT_EQ(code_of([&] { input.advance(piece); }), bad);
  EXPECT_EQ(input.fed(r.a), 0);
  EXPECT_EQ(code_of([&] { input.merge(input, Ids{}); }), bad);
}

BidirectionalSpan span_of(int64_t begin, int64_t end) {
  return {Position(begin), Position(end)};
}

/// At most `most` tokens, or the span that comes first.
PaddedInput::Fit at_most(int64_t most, std::map<uint64_t, int64_t>& at) {
  return [most, &at](RowId row, int64_t wanted, BidirectionalSpans to_come) {
    const Position from(at[row.generation]);
    const Position end = from + Position(std::min(wanted, most));
    const auto* cut = span_cut_at(to_come, end);
    return (!cut                    ? end - from
                : cut->begin > from ? cut->begin - from
                                    : cut->end - from)
        .get();
  };
}

TEST(PaddedInput, NamesTheSpansOfEachRowAndFeedsThemWhole) {
  Three r;
  // a: tokens at 100 on, an image at 102 to 106; b: a prefix of 3, left-padded.
  PaddedInput input(
      Rows{
          {.row = r.a,
           .left = 0,
           .length = 8,
           .spans = {span_of(102, 106)},
           .first = Position(100)},
          {.row = r.b, .left = 4, .length = 4, .spans = {span_of(0, 3)}}},
      8);
  EXPECT_EQ(input.fit_columns(3), 7); // a's span ends at 6, where b's is open
  EXPECT_EQ(code_of([&] { input.open(3); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(input.columns(), 0);
  EXPECT_EQ(input.fit_columns(2), 2);
  input.open(2);
  input.advance(input.piece(all));
  EXPECT_EQ(input.fit_columns(1), 5);
  input.open(5);
  std::map<uint64_t, int64_t> at{{r.a.generation, 102}, {r.b.generation, 0}};
  const PaddedPiece piece = input.piece(at_most(2, at));
  ASSERT_THAT(counts(piece), ElementsAre(4, 3));
  EXPECT_THAT(piece.appends[0].spans, ElementsAre(span_of(102, 106)));
  EXPECT_THAT(piece.appends[1].spans, ElementsAre(span_of(0, 3)));
  EXPECT_THAT(piece.places, ElementsAre(0, 1, 2, 3, 7, 8, 9));
  input.advance(piece);
  const PaddedPiece rest = input.piece(all);
  EXPECT_THAT(counts(rest), ElementsAre(1));
  EXPECT_TRUE(rest.appends[0].spans.empty());
  input.advance(rest);
  input.open(1);
  input.advance(input.piece(all));
  input.finalize();
}

TEST(PaddedInput, KeepsSpansThroughExtractAndMerge) {
  Three r;
  Three other;
  PaddedInput input(
      Rows{{.row = r.a, .length = 6, .spans = {span_of(3, 6)}}}, 6);
  input.open(2);
  input.advance(input.piece(all));
  PaddedInput more(
      Rows{{.row = other.a, .left = 1, .length = 5, .spans = {span_of(1, 3)}}},
      6);
  more.merge(input.extract(Ids{r.a}, Ids{other.b}), Ids{other.b});
  EXPECT_EQ(more.fit_columns(1), 1);
  EXPECT_EQ(more.fit_columns(2), 4); // the merged row's span ends there
  more.open(4);
  const PaddedPiece piece = more.piece(all);
  ASSERT_THAT(counts(piece), ElementsAre(3, 4));
  EXPECT_THAT(piece.appends[0].spans, ElementsAre(span_of(1, 3)));
  EXPECT_THAT(piece.appends[1].spans, ElementsAre(span_of(3, 6)));
}

TEST(PaddedInput, RefusesSpansThatDoNotFitTheirRowAndPiecesThatCutOne) {
  Three r;
  const auto build = [&](std::vector<BidirectionalSpan> spans) {
    return code_of([&] {
      PaddedInput(
          Rows{
              {.row = r.a,
               .length = 6,
               .spans = std::move(spans),
               .first = Position(10)}},
          6);
    });
  };
  const auto bad = ErrorCode::kInvalidArgument;
  EXPECT_EQ(build({span_of(9, 12)}), bad);
  EXPECT_EQ(build({span_of(12, 17)}), bad);
  EXPECT_EQ(build({span_of(12, 12)}), bad);
  EXPECT_EQ(build({span_of(12, 14), span_of(13, 15)}), bad);
  EXPECT_EQ(build({span_of(13, 15), span_of(11, 12)}), bad);
  EXPECT_EQ(build({span_of(10, 12), span_of(12, 16)}), ErrorCode::kOk);

  PaddedInput input(
      Rows{{.row = r.a, .length = 6, .spans = {span_of(1, 5)}}}, 6);
  input.open(6);
  const auto two = [](RowId, int64_t, BidirectionalSpans) { return 2; };
  const auto many = [](RowId, int64_t wanted, BidirectionalSpans) {
    return wanted + 1;
  };
  EXPECT_EQ(code_of([&] { input.piece(two); }), bad);
  EXPECT_EQ(code_of([&] { input.piece(many); }), bad);
  PaddedPiece piece = input.piece(all);
  piece.appends[0].count = 3;
  EXPECT_EQ(code_of([&] { input.advance(piece); }), bad);
  EXPECT_EQ(input.fed(r.a), 0);
}

TEST(PaddedInput, IsFinalizedOnceAndThenEnded) {
  Three r;
  PaddedInput input(Rows{{r.a, 0, 2}}, 2); // nothing is padded
  input.open(2);
  input.advance(input.piece(all));
  input.finalize();
  input.finalize();
  EXPECT_EQ(code_of([&] { input.open(1); }), ErrorCode::kInvalidArgument);
}

TEST(PaddedInput, GivesEachRowItsTokensOnceWhateverTheColumns) {
  std::mt19937 random(8);
  for (int round = 0; round < 200; ++round) {
    Batch batch;
    Rows rows;
    std::map<uint64_t, int64_t> next; // column of the row's next token
    const int64_t width = 1 + random() % 40;
    for (int i = 0; i < 4; ++i) {
      const int64_t left = random() % (width + 1);
      rows.push_back(
          {batch.add(),
           left,
           static_cast<int64_t>(random() % (width - left + 1))});
      next[rows.back().row.generation] = left;
    }
    PaddedInput input(rows, width);
    int64_t column = 0;
    while (!input.finished()) {
      const int64_t columns = 1 + random() % 9;
      input.open(columns);
      const auto limit = [&](RowId, int64_t wanted, BidirectionalSpans) {
        return std::min<int64_t>(wanted, 1 + random() % 4);
      };
      for (auto piece = input.piece(limit); !piece.appends.empty();
           piece = input.piece(limit)) {
        size_t token = 0;
        for (const RowAppend& append : piece.appends) {
          for (int64_t i = 0; i < append.count; ++i, ++token) {
            const int64_t place = piece.places[token];
            const auto row = input.order()[place / columns];
            ASSERT_TRUE(row == append.row);
            ASSERT_EQ(column + place % columns, next[row.generation]++);
          }
        }
        ASSERT_EQ(token, piece.places.size());
        input.advance(piece);
      }
      column += columns;
    }
    for (const auto& row : rows) {
      ASSERT_EQ(next[row.row.generation], row.left + row.length);
    }
  }
}

} // namespace
} // namespace holdfast
