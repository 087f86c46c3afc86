// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A chain's bidirectional spans: appended, committed, trimmed and reused whole.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "holdfast/rows/chain.h"
#include "tests/code_of.h"

namespace holdfast {
namespace {

using Spans = std::vector<BidirectionalSpan>;

BidirectionalSpan span(int64_t begin, int64_t end) {
  return {Position(begin), Position(end)};
}

Spans spans_of(const Chain& chain) {
  return {chain.spans().begin(), chain.spans().end()};
}

void feed(Chain& chain, int64_t count, const Spans& spans = {}) {
  chain.append(count, spans);
  chain.commit(count);
}

TEST(ChainSpans, AreOfTheAppendedPositionsWholeAndInOrder) {
  Chain chain({{}}, 4);
  feed(chain, 10);
  for (const Spans& wrong :
       {Spans{span(9, 12)},
        Spans{span(3, 5)},
        Spans{span(12, 21)},
        Spans{span(20, 22)},
        Spans{span(12, 12)},
        Spans{span(14, 12)},
        Spans{span(12, 15), span(14, 18)},
        Spans{span(15, 18), span(11, 12)}}) {
    EXPECT_EQ(
        code_of([&] { chain.append(10, wrong); }), ErrorCode::kInvalidArgument);
    EXPECT_EQ(chain.written(), Position(10));
  }
  feed(chain, 10, {span(10, 12), span(12, 20)});
  EXPECT_EQ(spans_of(chain), (Spans{span(10, 12), span(12, 20)}));
}

TEST(ChainSpans, AreCommittedWholeOrNotAtAll) {
  for (int64_t accepted = 0; accepted <= 10; ++accepted) {
    Chain chain({{}}, 4);
    feed(chain, 5);
    chain.append(10, Spans{span(7, 10), span(11, 15)});
    const bool cut =
        (accepted > 2 && accepted < 5) || (accepted > 6 && accepted < 10);
    EXPECT_EQ(
        code_of([&] { chain.commit(accepted); }),
        cut ? ErrorCode::kInvalidArgument : ErrorCode::kOk)
        << accepted;
    EXPECT_EQ(chain.written(), Position(5 + (cut ? 10 : accepted)));
    if (cut) {
      EXPECT_EQ(chain.committed(), Position(5));
      chain.rollback();
    }
    // What was dropped is forgotten.
    feed(chain, 1);
    EXPECT_EQ(
        spans_of(chain),
        cut || accepted < 5 ? Spans{}
            : accepted < 10 ? Spans{span(7, 10)}
                            : (Spans{span(7, 10), span(11, 15)}));
  }
}

TEST(ChainSpans, AreTrimmedWholeOrNotAtAll) {
  Chain full({{}}, 4);
  feed(full, 30, {span(4, 9), span(9, 12), span(20, 30)});
  for (int64_t to = 0; to <= 30; ++to) {
    Chain chain = full;
    const bool cut =
        (to > 4 && to < 9) || (to > 9 && to < 12) || (to > 20 && to < 30);
    EXPECT_EQ(
        code_of([&] { chain.trim(Position(to)); }),
        cut ? ErrorCode::kUnsupported : ErrorCode::kOk)
        << to;
    EXPECT_EQ(chain.committed(), Position(cut ? 30 : to));
    for (const BidirectionalSpan& kept : chain.spans()) {
      EXPECT_LE(kept.end, chain.committed());
    }
    EXPECT_EQ(
        full.reusable_length(Position(to)),
        Position(
            !cut          ? to
                : to < 9  ? 4
                : to < 12 ? 9
                          : 20));
  }
  // Positions that were given up may be causal when they come again.
  full.trim(Position(20));
  feed(full, 5);
  EXPECT_EQ(code_of([&] { full.trim(Position(22)); }), ErrorCode::kOk);
}

TEST(ChainSpans, MakeAPrefixReusableOnlyWhole) {
  Chain chain({{}}, 4);
  feed(chain, 10, {span(0, 10)});
  EXPECT_EQ(chain.reusable_floor(), Position(10));
  feed(chain, 5);
  EXPECT_EQ(chain.reusable_floor(), Position(10));
  for (int64_t most = 0; most <= 15; ++most) {
    EXPECT_EQ(
        chain.reusable_length(Position(most)), Position(most < 10 ? 0 : most));
  }
  EXPECT_EQ(code_of([&] { chain.trim(Position(9)); }), ErrorCode::kUnsupported);
  chain.trim(Position(0));
  EXPECT_TRUE(chain.spans().empty());
  EXPECT_EQ(chain.reusable_floor(), Position(0));
}

TEST(ChainSpans, LiftTheFloorToTheEndOfTheOneThatItWouldCut) {
  Chain chain({{.window = 8}}, 4);
  feed(chain, 40, {span(36, 39)});
  // Blocks below 8 were released: the query at 39 sees 32 and later ones.
  EXPECT_EQ(chain.reusable_floor(), Position(39));
  Chain before({{.window = 8}}, 4);
  feed(before, 40, {span(39, 40)});
  EXPECT_EQ(before.reusable_floor(), Position(39));
  Chain behind({{.window = 8}}, 4);
  feed(behind, 40, {span(37, 40)});
  EXPECT_EQ(behind.reusable_floor(), Position(40));
}

TEST(ChainSpans, MoveAChangeOfPrecisionToTheirEnd) {
  const std::vector<GroupRule> rules{
      {.starts = {Position(20)}}, {.starts = {Position(25), Position(50)}}, {}};
  Chain chain(rules, 4);
  feed(chain, 12);
  EXPECT_EQ(chain.max_append(), 8);
  const Spans across{span(17, 30)};
  EXPECT_EQ(chain.max_append(across), 18);
  EXPECT_EQ(
      code_of([&] { chain.append(19, across); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { chain.append(18); }), ErrorCode::kInvalidArgument);
  chain.append(18, across);
  chain.commit(5); // before the span, and before the start
  EXPECT_FALSE(chain.due());
  feed(chain, 13, across);
  // Both starts lay in the span.
  EXPECT_EQ(chain.due_phase(0), 1);
  EXPECT_EQ(chain.due_phase(1), 1);
  EXPECT_EQ(chain.due_phase(2), 0);
  for (int64_t group = 0; group < 3; ++group) {
    chain.enter_due_phase(group);
  }
  EXPECT_EQ(chain.reusable_floor(), Position(30));
  EXPECT_EQ(chain.max_append(), 20);
  // One that ends where the precision changes moves nothing.
  EXPECT_EQ(chain.max_append(Spans{span(40, 50), span(50, 60)}), 20);
}

TEST(ChainSpans, MayCoverTheStartsOfSeveralPhases) {
  Chain chain({{.starts = {Position(5), Position(8)}}}, 4);
  feed(chain, 12, {span(2, 12)});
  EXPECT_EQ(chain.due_phase(0), 2);
  chain.enter_due_phase(0);
  EXPECT_EQ(chain.phase(0), 2);
  EXPECT_EQ(chain.reusable_floor(), Position(12));
}

TEST(ChainSpans, EndChunksBeforeThemOrBehindThem) {
  Chain chain({{.starts = {Position(40)}}}, 4);
  const Spans all{span(3, 9), span(9, 12), span(35, 50)};
  feed(chain, 3);
  EXPECT_EQ(chain.fit_append(1, all), 6); // whole, though longer than wanted
  EXPECT_EQ(chain.fit_append(6, all), 6);
  EXPECT_EQ(chain.fit_append(7, all), 6); // before the next
  EXPECT_EQ(chain.fit_append(9, all), 9);
  EXPECT_EQ(chain.fit_append(20, all), 20);
  EXPECT_EQ(chain.fit_append(33, all), 32);
  EXPECT_EQ(chain.fit_append(1000, all), 47); // the row converts there
  EXPECT_EQ(chain.fit_append(1000, {}), 37);
  const auto of = [](const auto& call) { return code_of(call); };
  EXPECT_EQ(of([&] { chain.fit_append(0, all); }), ErrorCode::kInvalidArgument);
  feed(chain, 2);
  EXPECT_EQ(of([&] { chain.fit_append(5, all); }), ErrorCode::kInvalidArgument);
}

// Any wanted chunk size leads through any prompt, within each rule.
TEST(ChainSpans, LeadThroughAnyPromptInFittedChunks) {
  std::mt19937 random(8);
  for (int round = 0; round < 200; ++round) {
    Spans all;
    int64_t length = 1;
    while (length < 300) {
      const int64_t begin = length + random() % 30;
      length = begin + 1 + random() % 60;
      all.push_back(span(begin, length));
    }
    Chain chain(
        {{.starts = {Position(70), Position(160)}}, {.window = 30}}, 16);
    const int64_t wanted = 1 + random() % 100;
    while (chain.committed() < Position(length)) {
      const Position at = chain.committed();
      const Position end = at +
          Position(chain.fit_append(std::min(wanted, length - at.get()), all));
      feed(chain, (end - at).get(), spans_from(all, at, end));
      for (int64_t group = 0; group < 2; ++group) {
        chain.enter_due_phase(group);
      }
    }
    EXPECT_EQ(spans_of(chain), all);
    EXPECT_EQ(chain.phase(0), 2);
  }
}

} // namespace
} // namespace holdfast
