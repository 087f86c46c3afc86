// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A disk tier while the wall's clock jumps.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

const ScopeText kScope{"model a"};

Result<Stored> store_chat(DiskTier& tier, const Images& images, int chat) {
  return tier.store(
      path_batch(tier.scope(kScope).value(), chat_tokens(chat, 64), images));
}

// The wall's time goes where it likes; what does not expire stays.
TEST(DiskTierClock, JumpsEitherWayLoseNothing) {
  TierRig rig;
  constexpr int64_t kYear = int64_t{365} * 86400 * 1000000000;
  const int64_t now = rig.clock->wall_ns();
  int chat = 0;
  for (const int64_t wall : {now, now + 30 * kYear, int64_t{0}, now - kYear}) {
    rig.clock->set_wall_ns(wall);
    const auto tier = rig.open();
    tier->store(chat_batch(
                    tier->scope(kScope).value(),
                    chat_tokens(chat, 100),
                    std::to_string(chat),
                    rig.images))
        .value();
    rig.clock->set_wall_ns(wall + kYear);
    tier->prune().value();
    const Offered all = offered(*tier);
    for (int each = 0; each <= chat; ++each) {
      EXPECT_EQ(all.restorable(chat_tokens(each, 100)), 100) << each;
    }
    EXPECT_EQ(all.records.size(), static_cast<size_t>(chat + 1));
    expect_consistent(*tier);
    ++chat;
  }
}

// The day is the wall's, wherever that goes: each day has its own count, and
// none is forgotten while another has the limit.
TEST(DiskTierClock, ADaysLimitHoldsWhereverTheClockJumps) {
  TierRig rig;
  rig.options.daily_bytes = Bytes(1 << 20);
  constexpr int64_t kDay = int64_t{86400} * 1000000000;
  const int64_t today = rig.clock->wall_ns();
  const std::vector<int64_t> walls = {
      today, today + 36500 * kDay, 0, -kDay, today - kDay, today + kDay / 2};
  int chat = 0;
  std::map<int64_t, int> stored; // [day]
  for (int round = 0; round < 2; ++round) {
    for (const int64_t wall : walls) {
      SCOPED_TRACE(wall / kDay);
      rig.clock->set_wall_ns(wall);
      const auto tier = rig.open();
      Status last;
      while (last.ok() && chat < 200) {
        last = store_chat(*tier, rig.images, chat++).status();
        stored[wall / kDay] += last.ok();
      }
      EXPECT_EQ(last.code(), ErrorCode::kOutOfBudget);
      EXPECT_THAT(last.text(), HasSubstr("a day"));
    }
  }
  int sum = 0;
  for (const auto& [day, count] : stored) {
    EXPECT_GE(count, 1) << day;
    sum += count;
  }
  const auto tier = rig.open();
  EXPECT_EQ(offered(*tier).nodes.size(), static_cast<size_t>(sum));
  expect_consistent(*tier);
}

} // namespace
} // namespace holdfast::test
