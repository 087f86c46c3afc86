// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of generations in a disk tier: the newest of each key, until it
// is complete; what was completed is not offered.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/base/sha256.h"
#include "holdfast/env/faulty_file_system.h"
#include "tests/code_of.h"
#include "tests/prefix/generation_rig.h"

namespace holdfast {
namespace {

using namespace test;

TEST(GenerationStore, KeepsOneCheckpointAKeyAndReplacesIt) {
  const auto files = MemoryFileSystem::make();
  Rig rig(files);
  auto attempt = rig.begin();
  EXPECT_EQ(rig.body(), "not found");
  rig.grow(130);
  rig.save(attempt, "one");
  rig.grow(200);
  rig.save(attempt, "two");
  auto other = rig.begin("another");
  rig.save(other, "other");
  EXPECT_TRUE(rig.flush().durable);
  EXPECT_EQ(rig.body(), "two");
  EXPECT_EQ(rig.body("another"), "other");
  EXPECT_EQ(rig.disk().records("generation").value().size(), 2u);
  // Also after a power loss, by a process that knows nothing.
  const auto later = open_disk(files->power_loss({}));
  EXPECT_EQ(stored_body(*later), "two");
  EXPECT_EQ(later->stats().value().nodes, 3);
}

TEST(GenerationStore, WritesEachBlockOnce) {
  Rig rig(MemoryFileSystem::make());
  auto attempt = rig.begin();
  const int64_t block = shared_state().groups().image_bytes()[0].get() +
      shared_state().groups().image_bytes()[1].get();
  const auto step = [&](int64_t length) {
    const Bytes before = rig.written();
    rig.grow(length);
    rig.save(attempt, std::string(1000, 'b'));
    EXPECT_TRUE(rig.flush().durable);
    return (rig.written() - before).get();
  };
  EXPECT_GT(step(128), 2 * block);
  const int64_t nothing = step(150); // no block more
  EXPECT_LT(nothing, block);
  const int64_t one = step(192);
  EXPECT_GT(one, block);
  EXPECT_LT(one, block + nothing + 8192);
}

TEST(GenerationStore, ACompletedKeyIsNotOfferedUntilItsRemovalSucceeded) {
  const auto faulty =
      std::make_shared<FaultyFileSystem>(MemoryFileSystem::make());
  Rig rig(faulty);
  auto attempt = rig.begin();
  rig.grow(130);
  rig.save(attempt, "one");
  ASSERT_TRUE(rig.flush().durable);
  attempt.complete();
  EXPECT_FALSE(rig.continuations().can_restore("k")); // pending
  faulty->fail({.once = false});
  const ContinuationReport failed = rig.flush();
  EXPECT_FALSE(failed.durable);
  EXPECT_EQ(failed.failed_cleanups, 1);
  EXPECT_FALSE(rig.continuations().can_restore("k"));
  faulty->heal();
  EXPECT_TRUE(rig.flush().durable);
  EXPECT_TRUE(rig.continuations().can_restore("k"));
  EXPECT_EQ(rig.body(), "not found");
  EXPECT_EQ(rig.usable(), Position(128)); // the text's state is as any other's
  EXPECT_EQ(rig.continuations().stats().keys, 0);
}

TEST(GenerationStore, ASupersededAttemptWritesNothingMore) {
  Rig rig(MemoryFileSystem::make());
  auto first = rig.begin();
  rig.grow(130);
  rig.save(first, "one");
  ASSERT_TRUE(rig.flush().durable);
  auto second = rig.begin();
  EXPECT_EQ(rig.save(first, "late"), Enqueued::kDeclined);
  first.complete();
  EXPECT_TRUE(rig.flush().durable);
  EXPECT_EQ(rig.body(), "one");
  rig.save(second, "two");
  EXPECT_TRUE(rig.flush().durable);
  EXPECT_EQ(rig.body(), "two");
}

TEST(GenerationStore, WithoutRoomForStateTheTextIsKept) {
  Rig rig(MemoryFileSystem::make(), {.max_bytes = Bytes(550000)});
  auto attempt = rig.begin();
  rig.grow(kTokens);
  rig.save(attempt, "one");
  EXPECT_TRUE(rig.flush().durable);
  EXPECT_EQ(rig.body(), "one");
  EXPECT_EQ(rig.usable(), Position(384)); // it is in RAM
  rig.tree().check();
}

TEST(
    GenerationStore,
    ACheckpointHoldsABoundedShareOfBlocksAndLaterOnesTheRest) {
  const auto sizes = shared_state().groups().image_bytes();
  const Bytes block = sizes[0] + sizes[1];
  const auto files = MemoryFileSystem::make();
  Rig rig(files, {.most_bytes = block + block});
  auto attempt = rig.begin();
  rig.grow(kTokens); // 6 full blocks
  for (const int64_t nodes : {2, 4, 6, 6}) {
    rig.save(attempt, "body");
    ASSERT_TRUE(rig.flush().durable);
    EXPECT_EQ(rig.disk().stats().value().nodes, nodes);
  }
}

// A model with blocks of more than a checkpoint's share.
TEST(GenerationStore, ACheckpointHoldsABlockHoweverLargeItIs) {
  Rig rig(MemoryFileSystem::make(), {.most_bytes = Bytes(1)});
  auto attempt = rig.begin();
  rig.grow(200); // 3 full blocks
  for (const int64_t nodes : {1, 2, 3, 3}) {
    rig.save(attempt, "body");
    ASSERT_TRUE(rig.flush().durable);
    EXPECT_EQ(rig.disk().stats().value().nodes, nodes);
  }
}

TEST(GenerationStore, TenantsHaveKeysOfTheirOwn) {
  const auto files = MemoryFileSystem::make();
  Rig one(files, {.tenant = "one"});
  Rig two(files, {.tenant = "two"});
  one.grow(10);
  two.grow(10);
  auto first = one.begin();
  one.save(first, "mine");
  ASSERT_TRUE(one.flush().durable);
  EXPECT_EQ(two.body(), "not found");
  auto second = two.begin(); // and is not refused
  two.save(second, "theirs");
  ASSERT_TRUE(two.flush().durable);
  EXPECT_EQ(one.body(), "mine");
  EXPECT_EQ(two.body(), "theirs");
}

// Whatever a key without a tenant is spelled like.
TEST(GenerationStore, NoKeyOfNobodysNamesATenantsRecord) {
  const auto files = MemoryFileSystem::make();
  Rig tenant(files, {.tenant = "one"});
  tenant.grow(10);
  auto attempt = tenant.begin();
  tenant.save(attempt, "theirs");
  ASSERT_TRUE(tenant.flush().durable);
  Rig nobody(files);
  const std::string salt = sha256("one").hex();
  const std::vector<std::string> keys{
      salt + "/k", "tenant/" + salt + "/k", "key/k", "k"};
  for (const std::string& key : keys) {
    EXPECT_EQ(nobody.body(key), "not found") << key;
    auto mine = nobody.begin(key); // and is not refused
    mine.complete();
  }
  EXPECT_TRUE(nobody.flush().durable);
  EXPECT_EQ(tenant.body(), "theirs");
}

TEST(GenerationStore, RefusesAKeyOfAnotherProcessAndOnesOutOfRange) {
  const auto files = MemoryFileSystem::make();
  Rig one(files);
  Rig two(files);
  {
    auto first = one.begin();
    EXPECT_EQ(
        two.continuations().begin("k").status().code(),
        ErrorCode::kUnsupported);
  }
  EXPECT_TRUE(two.continuations().begin("k").ok());
  for (const std::string& key : {std::string(), std::string(1025, 'k')}) {
    EXPECT_EQ(
        code_of([&] { std::ignore = one.continuations().begin(key); }),
        ErrorCode::kInvalidArgument);
  }
}

} // namespace
} // namespace holdfast
