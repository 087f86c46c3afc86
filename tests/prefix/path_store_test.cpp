// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What the store of a coordinator says of paths: on disk, missing; never more
// than the disk can give back.

#include "holdfast/prefix/path_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tests/prefix/store_rig.h"
#include "tests/tier/heard.h"
#include "tests/tier/sync_hook.h"

namespace holdfast {
namespace {

using namespace test;

TEST(PathStore, APathIsDurableOnceItIsStored) {
  StoreRig rig;
  const RecordKey key = rig.want(150);
  EXPECT_FALSE(rig.store.is_durable(key, 1));
  ASSERT_TRUE(rig.write(key).ok());
  EXPECT_TRUE(rig.store.is_durable(key, 1));
  // Put again: all of it is there, and nothing is to be written.
  rig.want(150);
  EXPECT_TRUE(rig.store.is_durable(key, 2));
  const Bytes written = rig.store.written();
  rig.want(150);
  ASSERT_TRUE(rig.write(key).ok());
  EXPECT_EQ(rig.store.written(), written);
}

// It would lose its body.
TEST(PathStore, ARecordWithAnythingBesideItsStateIsNeverCovered) {
  StoreRig rig;
  ASSERT_TRUE(rig.write(rig.want(110)).ok());
  NamedRecord record;
  record.name = {"chat", "a"};
  const RecordKey key = rig.want(100, record);
  EXPECT_FALSE(rig.store.is_covered(key));
  EXPECT_FALSE(rig.store.is_durable(key, 1));
  ASSERT_TRUE(rig.write(key).ok());
  EXPECT_TRUE(rig.store.is_durable(key, 1));
  EXPECT_EQ(rig.tier->record({"chat", "a"}).value().length, Position(100));
}

// What was put while a store was under way is still wanted.
TEST(PathStore, AStoreClearsOnlyThePutThatItWrote) {
  StoreRig rig;
  NamedRecord record;
  record.name = {"chat", "a"};
  record.body.set("tree", {.version = 1, .bytes = "one"});
  const RecordKey key = rig.want(100, record);
  const auto content = rig.store.make(key).value();
  record.body.set("tree", {.version = 1, .bytes = "two"});
  rig.want(100, record);
  ASSERT_TRUE(rig.store.store(key, 1, *content).ok());
  EXPECT_FALSE(rig.store.is_durable(key, 2));
  ASSERT_TRUE(rig.write(key).ok());
  EXPECT_TRUE(rig.store.is_durable(key, 2));
  EXPECT_EQ(
      RecordBody::parse(rig.tier->record_body({"chat", "a"}).value())
          .value()
          .find("tree")
          ->bytes,
      "two");
}

// Two texts of one beginning wait for the disk: each store has all that its
// record needs, whatever becomes of the other.
TEST(PathStore, AStoreDoesNotRelyOnWhatAnotherOneIsWriting) {
  StoreRig rig;
  NamedRecord record;
  record.name = {"chat", "first"};
  auto first = rig.store.make(rig.want(150, record)).value();
  record.name.name = "second";
  record.body.set("tree", {.version = 1, .bytes = "second"});
  ASSERT_TRUE(rig.write(rig.want(149, record)).ok());
  first.reset(); // it is dropped
  PrefixTree later;
  ASSERT_TRUE(load_tree(later, *rig.tier).ok());
  const ScopeHandle scope =
      later.open(Scope(rig.state.signature()), rig.state.groups().rules());
  EXPECT_EQ(later.known(scope, {text_tokens(149)}), Position(149));
  EXPECT_EQ(
      rig.tier->record({"chat", "first"}).status().code(),
      ErrorCode::kNotFound);
  // And what was dropped is written by whoever comes next.
  record.name.name = "first";
  ASSERT_TRUE(rig.write(rig.want(150, record)).ok());
  EXPECT_TRUE(rig.tree.stored_images(rig.scope, {text_tokens(150)}));
}

// A store evicts before it writes; what it evicted was once durable.
TEST(PathStore, APutAgainIsNotDurableWhileAStoreRunsThatEvictedItsState) {
  StoreRig rig(Bytes(int64_t{2} << 20));
  const RecordKey key = rig.want(150);
  ASSERT_TRUE(rig.write(key).ok());
  Heard heard(*rig.tier);
  bool asked = false;
  rig.files->before_sync = [&] {
    if (!asked && !heard.all.nodes.empty()) {
      asked = true;
      rig.want(150);
      EXPECT_FALSE(rig.store.is_durable(key, 2));
    }
  };
  const std::string value(40000, 'v');
  for (int number = 0; !asked && number < 100; ++number) {
    const std::string name = std::to_string(number);
    const ObjectToStore object{
        .space = "encoder",
        .key = name,
        .bytes = std::as_bytes(std::span(value)),
        .cost = int64_t{1} << 50}; // dearer than any text
    ASSERT_TRUE(rig.tier->put_objects({&object, 1}).ok());
  }
  ASSERT_TRUE(asked);
  ASSERT_TRUE(rig.write(key).ok());
  EXPECT_TRUE(rig.store.is_durable(key, 2));
  EXPECT_EQ(rig.known_to_others(150), 150);
}

TEST(PathStore, APutAgainIsNotDurableWhereAnotherProcessEvictedItsState) {
  StoreRig rig;
  const RecordKey key = rig.want(150);
  ASSERT_TRUE(rig.write(key).ok());
  ASSERT_FALSE(rig.open()->evict(kUnlimitedBytes).value().nodes.empty());
  rig.want(150);
  EXPECT_FALSE(rig.store.is_durable(key, 2));
  EXPECT_FALSE(rig.store.is_covered(key));
  ASSERT_TRUE(rig.write(key).ok()); // RAM has it
  EXPECT_TRUE(rig.store.is_durable(key, 2));
  EXPECT_EQ(rig.known_to_others(150), 150);
}

TEST(PathStore, APutAgainIsNotDurableWhereNeitherDiskNorRamHasItsState) {
  StoreRig rig;
  const RecordKey key = rig.want(150);
  ASSERT_TRUE(rig.write(key).ok());
  rig.want(150);
  rig.tree.reclaim(kUnlimitedBytes); // the disk has it
  ASSERT_FALSE(rig.open()->evict(kUnlimitedBytes).value().nodes.empty());
  EXPECT_FALSE(rig.store.is_durable(key, 2));
  EXPECT_EQ(rig.write(key).code(), ErrorCode::kNotFound);
  EXPECT_EQ(rig.store.make(key).status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(rig.tree.known(rig.scope, {text_tokens(150)}), Position(0));
}

TEST(PathStore, APutAgainIsNotDurableOnceTheManifestWasSetAside) {
  StoreRig rig;
  const RecordKey key = rig.want(150);
  ASSERT_TRUE(rig.write(key).ok());
  const std::string path = "/state/manifest.db";
  const Bytes size = rig.memory->facts(path).value().size;
  const std::string noise(static_cast<size_t>(size.get()), '?');
  rig.memory->open(path, FileSystem::Access::kReadWrite)
      .value()
      ->write(Bytes(0), std::as_bytes(std::span(noise)))
      .check();
  EXPECT_TRUE(rig.tier->records().value().empty()); // somebody finds out
  EXPECT_FALSE(rig.tree.stored_images(rig.scope, {text_tokens(150)}));
  rig.want(150);
  EXPECT_FALSE(rig.store.is_durable(key, 2));
  ASSERT_TRUE(rig.write(key).ok());
  EXPECT_EQ(rig.known_to_others(150), 150);
}

// Eviction and the news of a store come in the order of their commits, however
// many are at work.
TEST(PathStore, WhatTheTreeCallsStoredIsNotWhatTheDiskLost) {
  StoreRig rig;
  std::vector<RecordKey> keys;
  for (int64_t length = 64; length < 64 + 12; ++length) {
    keys.push_back(rig.want(length));
  }
  std::atomic<bool> stop{false};
  std::thread evicting([&] {
    while (!stop) {
      EXPECT_TRUE(rig.tier->evict(Bytes(1)).ok());
      std::this_thread::yield();
    }
  });
  for (int round = 0; round < 10; ++round) {
    for (const RecordKey& key : keys) {
      rig.want(std::ssize(*key.tokens));
      const ErrorCode code = rig.write(key).code();
      // What it builds on may go again and again.
      EXPECT_TRUE(code == ErrorCode::kOk || code == ErrorCode::kNotFound);
    }
  }
  stop = true;
  evicting.join();
  for (const RecordKey& key : keys) {
    const auto images = rig.tree.stored_images(rig.scope, {*key.tokens});
    EXPECT_TRUE(!images || rig.tier->has(*images).value());
  }
  rig.tree.check();
}

// As another process does that verified the folder: the index is read again,
// and the node is there, without the image.
TEST(PathStore, AnImageThatAnotherProcessDroppedLeavesTheIndex) {
  StoreRig rig;
  ASSERT_TRUE(rig.write(rig.want(150)).ok());
  rig.tree.reclaim(Bytes(int64_t{1} << 40)); // the disk alone has it
  const auto tokens = text_tokens(150);
  const Path text{tokens};
  ASSERT_EQ(rig.tree.known(rig.scope, text), Position(150));
  const auto names = rig.files->list("/state").value();
  for (const std::string& name : names) {
    if (name.ends_with(".segment")) {
      const auto file =
          rig.files->open("/state/" + name, FileSystem::Access::kReadWrite)
              .value();
      std::byte first[1];
      file->read(Bytes(4096), first).check();
      first[0] ^= std::byte{1};
      file->write(Bytes(4096), first).check();
    }
  }
  const auto other = DiskTier::open({.folder = "/state",
                                     .files = rig.files,
                                     .clock = std::make_shared<ManualClock>()})
                         .value();
  EXPECT_EQ(other->verify().value().dropped.size(), 1u);
  ASSERT_TRUE(load_tree(rig.tree, *rig.tier).ok());
  EXPECT_LT(rig.tree.known(rig.scope, text), Position(150));
  const auto images = rig.tree.stored_images(rig.scope, text);
  EXPECT_FALSE(images && rig.tier->has(*images).value());
  rig.tree.check();
  // Computed again, it is written again.
  ASSERT_TRUE(rig.write(rig.want(150)).ok());
  EXPECT_EQ(rig.known_to_others(150), 150);
}

TEST(PathStore, APathWhoseStateIsGoneIsMissing) {
  StoreRig rig;
  const RecordKey key = rig.want(150);
  const auto tokens = text_tokens(150);
  EXPECT_GT(rig.tree.forget(rig.scope, {tokens}), 0);
  EXPECT_EQ(rig.write(key).code(), ErrorCode::kNotFound);
  EXPECT_FALSE(rig.store.is_covered(key));
}

} // namespace
} // namespace holdfast
