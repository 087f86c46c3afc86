// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A longer path on the disk stands for a shorter one only where it can be
// restored at that length.

#include <gtest/gtest.h>

#include "tests/prefix/store_rig.h"
#include "tests/state/hybrid.h"

namespace holdfast {
namespace {

using namespace test;

// The longer row's window left what the shorter one needs behind.
TEST(CoveredPath, ALongerPathThatLacksTheWindowCoversNoShorterOne) {
  StoreRig rig;
  ASSERT_TRUE(rig.write(rig.want(250)).ok());
  const RecordKey shorter = rig.want_again(100);
  EXPECT_FALSE(rig.store.is_covered(shorter));
  EXPECT_FALSE(rig.store.is_durable(shorter, 1));
  const auto content = rig.store.make(shorter);
  EXPECT_EQ(content.status().code(), ErrorCode::kNotFound);
}

TEST(CoveredPath, ALongerPathWithTheWindowCoversAShorterOne) {
  StoreRig rig;
  ASSERT_TRUE(rig.write(rig.want(110)).ok());
  rig.tree.reclaim(kUnlimitedBytes); // the disk alone has it
  EXPECT_TRUE(rig.store.is_covered(rig.want_again(100)));
}

// From 128 tokens on the longer row has its blocks in another precision: a row
// of fewer tokens needs the first one's.
TEST(CoveredPath, ALongerPathAboveAPrecisionsStartCoversNoneBelowIt) {
  for (const int64_t longer : {110, 250}) {
    StoreRig rig(Bytes(int64_t{1} << 30), with_codecs("bf16", 128));
    ASSERT_TRUE(rig.write(rig.want(longer)).ok());
    rig.tree.reclaim(kUnlimitedBytes); // the disk alone has it
    EXPECT_EQ(rig.store.is_covered(rig.want_again(100)), longer == 110)
        << longer;
  }
}

// All keys and values are there; what the recurrent layer was at 100 tokens is
// not, where the row has left their block.
TEST(CoveredPath, ALongerPathCoversNoShorterOneWhoseRecurrentStateItLeft) {
  const Hybrid both(kLength);
  const auto covers = [&](int64_t longer, int64_t shorter) {
    StoreRig rig(Bytes(int64_t{1} << 30), hybrid());
    rig.append = [&](RowId row, int64_t first, int64_t count) {
      both.append(rig.state, row, first, count);
    };
    EXPECT_TRUE(rig.write(rig.want(longer)).ok());
    rig.tree.reclaim(kUnlimitedBytes); // the disk alone has it
    return rig.store.is_covered(rig.want_again(shorter));
  };
  EXPECT_TRUE(covers(110, 100)); // of one block
  EXPECT_TRUE(covers(250, 240));
  EXPECT_FALSE(covers(250, 100));
  EXPECT_FALSE(covers(250, 128));
}

} // namespace
} // namespace holdfast
