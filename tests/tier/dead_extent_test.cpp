// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Bytes that were evicted and given back are not found, whatever is compared
// of those that are: a hole reads as zeros, and zeros are no image.

#include <string>

#include <gtest/gtest.h>

#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

const ScopeText kScope{"model a"};

class DeadExtent : public testing::TestWithParam<Verify> {
 protected:
  DeadExtent() {
    rig_.options.verify = GetParam();
    tier_ = rig_.open();
    const ScopeId scope = tier_->scope(kScope).value();
    stored_ =
        tier_->store(chat_batch(scope, tokens_, "a", rig_.images)).value();
  }
  /// Nobody has the segment mapped, so the last block's pages are punched.
  void evict_last_block() {
    const Removed removed =
        tier_->remove_nodes(std::span(stored_.nodes).last(1)).value();
    ASSERT_EQ(removed.nodes.size(), 1u);
    ASSERT_GT(removed.freed, Bytes(0));
  }
  void expect_not_found(DiskTier& tier) {
    for (int time = 0; time < 2; ++time) {
      for (const Extent& extent : stored_.images[1]) {
        const Status status = tier.map(extent).status();
        EXPECT_EQ(status.code(), ErrorCode::kNotFound) << status.text();
      }
    }
    EXPECT_EQ(tier.report().corrupt_images, 0);
    EXPECT_EQ(
        text_of(tier.map(stored_.images[0][1]).value()),
        Images::text(chat_tokens(1, 64), kSliding));
  }

  TierRig rig_;
  const Tokens tokens_ = chat_tokens(1, 128);
  std::unique_ptr<DiskTier> tier_;
  Stored stored_;
};

TEST_P(DeadExtent, OfASegmentThatHasOthersIsNotFound) {
  evict_last_block();
  expect_not_found(*tier_);
  expect_consistent(*tier_);
}

TEST_P(DeadExtent, ThatAnotherTierEvictedIsNotFound) {
  const auto other = rig_.open();
  evict_last_block();
  expect_not_found(*other);
}

TEST_P(DeadExtent, ThatIsMappedStaysAsItIs) {
  const MappedImage image = tier_->map(stored_.images[1][1]).value();
  tier_->remove_nodes(std::span(stored_.nodes).last(1)).value();
  tier_->prune().value();
  EXPECT_EQ(text_of(image), Images::text(tokens_, kSliding));
  // Also for who asks for it again meanwhile.
  EXPECT_EQ(
      text_of(tier_->map(stored_.images[1][1]).value()),
      Images::text(tokens_, kSliding));
}

TEST_P(DeadExtent, ThatNeverWasOneIsNotFoundEither) {
  Extent extent = stored_.images[0][0];
  extent.bytes = extent.bytes - Bytes(1);
  EXPECT_EQ(tier_->map(extent).status().code(), ErrorCode::kNotFound);
  extent.offset = Bytes(-4096);
  EXPECT_EQ(tier_->map(extent).status().code(), ErrorCode::kNotFound);
  expect_consistent(*tier_);
}

INSTANTIATE_TEST_SUITE_P(
    Verify,
    DeadExtent,
    testing::Values(Verify::kAlways, Verify::kFirstTouch, Verify::kNever),
    [](const auto& info) {
      return std::string(
          info.param == Verify::kAlways      ? "Always"
              : info.param == Verify::kNever ? "Never"
                                             : "FirstTouch");
    });

} // namespace
} // namespace holdfast::test
