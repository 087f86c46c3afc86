// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a tier says it holds and has written, and a folder that forgets all.

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/tier/tier_rig.h"

namespace holdfast {
namespace {

using namespace test;

const ScopeText kScope{"model a"};

TEST(TierFigures, CountTheTokensThatAreThereAndThatWereEverStored) {
  TierRig rig;
  auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  ASSERT_TRUE(
      tier->store(path_batch(scope, chat_tokens(1, 100), rig.images)).ok());
  ASSERT_TRUE(
      tier->store(path_batch(scope, chat_tokens(2, 70), rig.images)).ok());
  ASSERT_TRUE(
      tier->store(path_batch(scope, chat_tokens(2, 70), rig.images)).ok());
  EXPECT_EQ(tier->stats().value().tokens, 170);
  EXPECT_EQ(tier->stats().value().tokens_total, 170);
  // A tail that grew counts what it has more.
  StoreBatch longer = path_batch(scope, chat_tokens(1, 110), rig.images);
  const Offered before = offered(*tier);
  longer.nodes[1].supersedes = {before.find(chat_tokens(1, 100))->stored.id};
  ASSERT_TRUE(tier->store(longer).ok());
  EXPECT_EQ(tier->stats().value().tokens, 180);
  EXPECT_EQ(tier->stats().value().tokens_total, 180);
  tier.reset();
  tier = rig.open();
  EXPECT_EQ(tier->stats().value().tokens_total, 180);
  ASSERT_TRUE(tier->forget_all().ok());
  EXPECT_EQ(tier->stats().value().tokens, 0);
  EXPECT_EQ(tier->stats().value().tokens_total, 180);
}

TEST(TierFigures, CountTheTokensThatWereServedByAllProcesses) {
  TierRig rig;
  auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const Stored stored =
      tier->store(path_batch(scope, chat_tokens(1, 100), rig.images)).value();
  tier->touch(stored.nodes, 100);
  tier->touch(std::span(stored.nodes).first(1), 64);
  tier.reset(); // writes it down
  tier = rig.open();
  EXPECT_EQ(tier->stats().value().tokens_served, 164);
  tier->touch({}, 6);
  tier->store(path_batch(scope, chat_tokens(2, 70), rig.images)).value();
  EXPECT_EQ(tier->stats().value().tokens_served, 170);
  EXPECT_EQ(tier->stats().value().tokens_total, 170);
  EXPECT_THROW(tier->touch({}, -1), Error);
}

TEST(TierFigures, VerifySaysHowFarItIs) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  ASSERT_TRUE(
      tier->store(chat_batch(scope, chat_tokens(1, 100), "a", rig.images))
          .ok());
  std::vector<Bytes> steps;
  Bytes all;
  const VerifyReport report = tier->verify([&](Bytes done, Bytes total) {
                                    steps.push_back(done);
                                    all = total;
                                  })
                                  .value();
  ASSERT_EQ(steps.size(), 5u); // four images and a body
  EXPECT_TRUE(std::ranges::is_sorted(steps));
  EXPECT_EQ(steps.back(), all);
  EXPECT_EQ(report.bytes, all);
}

TEST(TierFigures, ForgettingAllLeavesNoByteOfIt) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  StoreBatch batch = chat_batch(scope, chat_tokens(1, 100), "a", rig.images);
  batch.record->pinned = true;
  ASSERT_TRUE(tier->store(batch).ok());
  ASSERT_TRUE(
      tier->store(path_batch(scope, chat_tokens(2, 70), rig.images)).ok());
  const std::string value(5000, 'v');
  const ObjectToStore object{
      .space = "encoder", .key = "k", .bytes = std::as_bytes(std::span(value))};
  ASSERT_TRUE(tier->put_objects({&object, 1}).ok());
  const Removed removed = tier->forget_all().value();
  EXPECT_EQ(removed.nodes.size(), 4u);
  EXPECT_EQ(removed.records.size(), 1u);
  EXPECT_EQ(removed.objects, 1);
  EXPECT_EQ(removed.held, Bytes());
  const TierStats stats = tier->stats().value();
  EXPECT_EQ(stats.nodes + stats.records + stats.segments, 0);
  EXPECT_EQ(stats.objects.count, 0);
  EXPECT_EQ(stats.live, Bytes());
  expect_consistent(*tier);
}

} // namespace
} // namespace holdfast
