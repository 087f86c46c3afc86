// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/rows/chain.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/code_of.h"

namespace holdfast {
namespace {

std::vector<GroupRule> rules() {
  return {
      {.starts = {Position(10)}},
      {.window = 8, .starts = {Position(10), Position(30)}},
      {}};
}

/// As Chains does: what is due is converted before the next append.
void feed(Chain& chain, int64_t count) {
  for (int64_t group = 0; group < chain.groups(); ++group) {
    chain.enter_due_phase(group);
  }
  chain.append(count);
  chain.commit(count);
}

TEST(ChainPhase, ChangesWhereCommittedReachesTheStartAndNotBefore) {
  Chain chain(rules(), 4);
  feed(chain, 9);
  EXPECT_FALSE(chain.due());
  feed(chain, 1);
  EXPECT_TRUE(chain.due());
  EXPECT_EQ(chain.phase(0), 0);
  EXPECT_EQ(chain.due_phase(0), 1);
  EXPECT_EQ(chain.due_phase(1), 1);
  EXPECT_EQ(chain.due_phase(2), 0);
  feed(chain, 20);
  EXPECT_EQ(chain.phase(1), 1);
  EXPECT_EQ(chain.due_phase(0), 1);
  EXPECT_EQ(chain.due_phase(1), 2);
}

TEST(ChainPhase, NeverLooksAtTentativePositions) {
  Chain chain(rules(), 4);
  feed(chain, 5);
  chain.append(5);
  EXPECT_FALSE(chain.due());
  chain.commit(4);
  EXPECT_FALSE(chain.due());
  EXPECT_EQ(chain.max_append(), 1);
}

TEST(ChainPhase, EndsEveryAppendAtTheNextStartOfAnyGroup) {
  Chain chain(rules(), 4);
  EXPECT_EQ(chain.max_append(), 10);
  EXPECT_EQ(code_of([&] { chain.append(11); }), ErrorCode::kInvalidArgument);
  chain.append(6);
  EXPECT_EQ(code_of([&] { chain.append(5); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(chain.written(), Position(6));
  chain.append(4);
  chain.commit(10);
  EXPECT_EQ(chain.max_append(), 20);
  feed(chain, 20);
  EXPECT_EQ(chain.max_append(), (kMaxPositions - Position(30)).get());
}

// The precision floor: what a cold run would hold in the phase before is not
// taken from a chain that was converted.
TEST(ChainPhase, RefusesATrimBelowTheStartOfThePhaseItIsIn) {
  Chain chain({{.starts = {Position(10)}}, {}}, 4);
  feed(chain, 10);
  EXPECT_EQ(chain.reusable_floor(), Position(0)); // due, not yet converted
  feed(chain, 10);
  EXPECT_EQ(chain.reusable_floor(), Position(10));
  EXPECT_EQ(code_of([&] { chain.trim(Position(9)); }), ErrorCode::kUnsupported);
  EXPECT_EQ(chain.committed(), Position(20));
  chain.trim(Position(10));
  EXPECT_EQ(chain.phase(0), 1);
  EXPECT_FALSE(chain.due());
}

TEST(ChainPhase, TakesTheLargestFloorOfWindowsAndPhases) {
  Chain chain({{.window = 8}, {.starts = {Position(33)}}}, 1);
  feed(chain, 33);
  feed(chain, 4);
  EXPECT_EQ(chain.reusable_floor(), Position(37 - 8 + 7));
  Chain later({{.window = 8}, {.starts = {Position(37)}}}, 1);
  feed(later, 37);
  feed(later, 1);
  EXPECT_EQ(later.reusable_floor(), Position(38 - 8 + 7));
  Chain full({{}, {.starts = {Position(37)}}}, 1);
  feed(full, 37);
  feed(full, 1);
  EXPECT_EQ(full.reusable_floor(), Position(37));
}

TEST(ChainPhase, StartsFromTheFirstPhaseAgainWhenTrimmedToNothing) {
  Chain chain({{.starts = {Position(10)}}}, 4);
  feed(chain, 10);
  feed(chain, 5);
  chain.trim(Position(0));
  EXPECT_EQ(chain.phase(0), 0);
  EXPECT_EQ(chain.max_append(), 10);
}

TEST(ChainPhase, TrimsADueChainAsTheDenseOneItStillIs) {
  Chain chain({{.starts = {Position(10)}}}, 4);
  feed(chain, 10);
  chain.trim(Position(3));
  EXPECT_FALSE(chain.due());
  EXPECT_EQ(chain.max_append(), 7);
}

TEST(ChainPhase, IsTheSameHoweverThePositionsCame) {
  std::mt19937 random(4);
  for (int round = 0; round < 50; ++round) {
    Chain one(rules(), 16);
    Chain other(rules(), 16);
    const int64_t total = 1 + random() % 60;
    for (Chain* chain : {&one, &other}) {
      const int64_t most = chain == &one ? 1 + random() % 20 : total;
      while (chain->committed() < Position(total)) {
        feed(
            *chain,
            std::min(
                {chain->max_append(), most, total - chain->committed().get()}));
      }
    }
    for (int64_t group = 0; group < one.groups(); ++group) {
      EXPECT_EQ(one.phase(group), other.phase(group));
      EXPECT_EQ(one.due_phase(group), other.due_phase(group));
    }
    EXPECT_EQ(one.reusable_floor(), other.reusable_floor());
  }
}

TEST(ChainPhase, RefusesStartsThatDoNotRiseFromOne) {
  const auto build = [](std::vector<Position> starts) {
    return code_of([&] { Chain({{.starts = starts}}, 4); });
  };
  EXPECT_EQ(build({Position(1), Position(2)}), ErrorCode::kOk);
  EXPECT_EQ(build({Position(0)}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(build({Position(5), Position(5)}), ErrorCode::kInvalidArgument);
}

} // namespace
} // namespace holdfast
