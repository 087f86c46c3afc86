// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Removals whose rows are gone, but whose bytes cannot be given back just then:
// they say what went, and the next sweep ends it.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/env/faulty_file_system.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

using testing::ElementsAre;

const ScopeText kScope{"model a"};

class RemovalFault : public testing::Test {
 protected:
  RemovalFault() {
    rig_.options.files = faulty_;
    tier_ = rig_.open();
    const ScopeId scope = tier_->scope(kScope).value();
    stored_ =
        tier_->store(chat_batch(scope, chat_tokens(1, 100), "a", rig_.images))
            .value();
    const std::string value(300, 'v');
    const ObjectToStore object{
        .space = "encoder",
        .key = "a",
        .bytes = std::as_bytes(std::span(value))};
    tier_->put_objects(std::span(&object, 1)).value();
  }
  /// Looking at open/, which a sweep begins with, fails once; after so many
  /// other looks.
  void fail_sweep(int64_t after = 0) {
    faulty_->fail({.after = after, .only = FileCall::kList});
  }
  void expect_noted_and_swept_later() {
    EXPECT_EQ(faulty_->failed(), 1);
    faulty_->heal();
    EXPECT_FALSE(tier_->report().findings.empty());
    EXPECT_GT(tier_->stats().value().dead, Bytes(0));
    EXPECT_GT(tier_->prune().value().freed, Bytes(0));
    EXPECT_EQ(tier_->stats().value().dead, Bytes(0));
    expect_consistent(*tier_);
  }

  TierRig rig_;
  const std::shared_ptr<FaultyFileSystem> faulty_ =
      std::make_shared<FaultyFileSystem>(rig_.memory);
  std::unique_ptr<DiskTier> tier_;
  Stored stored_;
};

TEST_F(RemovalFault, OfNodesSaysWhichWent) {
  fail_sweep();
  const Removed removed =
      tier_->remove_nodes(std::span(stored_.nodes).first(1)).value();
  EXPECT_EQ(removed.nodes.size(), 2u);
  EXPECT_THAT(removed.records, ElementsAre(RecordName{"chat", "a"}));
  EXPECT_GT(removed.held, Bytes(0));
  expect_noted_and_swept_later();
}

TEST_F(RemovalFault, OfARecordSaysSo) {
  fail_sweep();
  EXPECT_THAT(
      tier_->remove_record({"chat", "a"}).value().records,
      ElementsAre(RecordName{"chat", "a"}));
  expect_noted_and_swept_later();
}

TEST_F(RemovalFault, OfObjectsSaysHowMany) {
  fail_sweep();
  const Removed removed = tier_->remove_objects("encoder").value();
  EXPECT_EQ(removed.objects, 1);
  EXPECT_GT(removed.unerased, Bytes(0));
  expect_noted_and_swept_later();
}

TEST_F(RemovalFault, OfWhatIsForgottenSaysThatItCanStillBeRead) {
  fail_sweep(1); // the first look is for manifests that were set aside
  const Removed removed = tier_->forget({"chat", "a"}).value();
  EXPECT_EQ(removed.nodes.size(), 2u);
  EXPECT_GT(removed.unerased, Bytes(0));
  expect_noted_and_swept_later();
}

TEST_F(RemovalFault, OfEverythingSaysThatItCanStillBeRead) {
  fail_sweep(1);
  const Removed removed = tier_->forget_all().value();
  EXPECT_EQ(removed.nodes.size(), 2u);
  EXPECT_EQ(removed.objects, 1);
  EXPECT_GT(removed.unerased, Bytes(0));
  expect_noted_and_swept_later();
}

TEST_F(RemovalFault, OfAnEvictionSaysWhatWentBeforeIt) {
  fail_sweep(2); // foreign files, who is open, then the sweep
  const Removed removed = tier_->evict(Bytes(int64_t{1} << 40)).value();
  EXPECT_EQ(removed.nodes.size() + static_cast<size_t>(removed.objects), 3u);
  expect_noted_and_swept_later();
}

TEST_F(RemovalFault, BeforeAnythingWentIsAnError) {
  fail_sweep();
  EXPECT_EQ(tier_->evict(Bytes(1)).status().code(), ErrorCode::kIo);
  EXPECT_EQ(offered(*tier_).nodes.size(), 2u);
  expect_consistent(*tier_);
}

} // namespace
} // namespace holdfast::test
