// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/rows/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/code_of.h"

namespace holdfast {
namespace {

using testing::ElementsAre;

TEST(Batch, KeepsRowsInTheOrderTheyCame) {
  Batch batch;
  const RowId a = batch.add();
  const RowId b = batch.add();
  const RowId c = batch.add();
  EXPECT_THAT(batch.order(), ElementsAre(a, b, c));
  EXPECT_EQ(batch.index_of(c), RowIndex(2));
}

TEST(Batch, KeepsTheOrderOfTheOthersWhenARowLeaves) {
  Batch batch;
  const RowId a = batch.add();
  const RowId b = batch.add();
  const RowId c = batch.add();
  batch.remove(b);
  EXPECT_THAT(batch.order(), ElementsAre(a, c));
  EXPECT_EQ(batch.index_of(c), RowIndex(1));
  EXPECT_FALSE(batch.contains(b));
}

TEST(Batch, NeverGivesANameOutAgain) {
  Batch batch;
  const RowId old = batch.add();
  batch.remove(old);
  const RowId young = batch.add();
  EXPECT_EQ(old.slot, young.slot);
  EXPECT_FALSE(old == young);
  EXPECT_FALSE(batch.contains(old));
  EXPECT_EQ(code_of([&] { batch.remove(old); }), ErrorCode::kNotFound);
  EXPECT_EQ(code_of([&] { batch.index_of(old); }), ErrorCode::kNotFound);
  EXPECT_TRUE(batch.contains(young));
}

TEST(Batch, DoesNotKnowTheRowsOfAnother) {
  Batch batch;
  Batch other;
  batch.add();
  const RowId foreign = other.add();
  EXPECT_FALSE(batch.contains(foreign));
  EXPECT_FALSE(batch.contains(RowId{}));
}

TEST(Batch, ReordersAsGiven) {
  Batch batch;
  const RowId a = batch.add();
  const RowId b = batch.add();
  const RowId c = batch.add();
  batch.reorder(std::vector{c, a, b});
  EXPECT_THAT(batch.order(), ElementsAre(c, a, b));
}

TEST(Batch, RefusesAnOrderThatIsNotAllRowsOnceAndKeepsItsOwn) {
  Batch batch;
  const RowId a = batch.add();
  const RowId b = batch.add();
  const RowId gone = batch.add();
  batch.remove(gone);
  const auto reorder = [&](std::vector<RowId> order) {
    return code_of([&] { batch.reorder(order); });
  };
  EXPECT_EQ(reorder({a}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(reorder({a, a}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(reorder({a, gone}), ErrorCode::kNotFound);
  EXPECT_THAT(batch.order(), ElementsAre(a, b));
}

TEST(Batch, RefusesAStepWithoutRowsOrWithUnknownOrRepeatedOnes) {
  Batch batch;
  const RowId a = batch.add();
  const RowId gone = batch.add();
  batch.remove(gone);
  const auto step = [&](std::vector<RowAppend> appends) {
    return code_of([&] { batch.require_appendable(appends); });
  };
  EXPECT_EQ(step({}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(step({{a, 0}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(step({{a, -1}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(step({{a, 1}, {a, 1}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(step({{a, 1}, {gone, 1}}), ErrorCode::kNotFound);
  EXPECT_EQ(step({{a, 1}}), ErrorCode::kOk);
}

} // namespace
} // namespace holdfast
