// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/disk_tier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/code_of.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

const ScopeText kScope{"model a"};

TEST(DiskTier, GivesBackWhatWasStoredAfterARestart) {
  TierRig rig;
  const Tokens tokens = chat_tokens(1, 150);
  {
    const auto tier = rig.open();
    const ScopeId scope = tier->scope(kScope).value();
    const auto stored = tier->store(path_batch(scope, tokens, rig.images));
    ASSERT_TRUE(stored.ok()) << stored.status().text();
    EXPECT_EQ(stored.value().nodes.size(), 3u);
    EXPECT_EQ(offered(*tier).restorable(tokens), 150);
  }
  const auto tier = rig.open();
  const Offered all = offered(*tier);
  EXPECT_EQ(all.restorable(tokens), 150);
  EXPECT_EQ(all.nodes.size(), 3u);
  EXPECT_EQ(all.scopes.begin()->second, "model a");
  expect_consistent(*tier);
}

TEST(DiskTier, AScopeKeepsItsId) {
  TierRig rig;
  ScopeId id;
  {
    const auto tier = rig.open();
    id = tier->scope(kScope).value();
    EXPECT_EQ(tier->scope(kScope).value(), id);
    EXPECT_NE(tier->scope({"model b"}).value(), id);
  }
  EXPECT_EQ(rig.open()->scope(kScope).value(), id);
}

TEST(DiskTier, WritesAnImageOnce) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const auto first =
      tier->store(path_batch(scope, chat_tokens(1, 128), rig.images)).value();
  const auto again =
      tier->store(path_batch(scope, chat_tokens(1, 128), rig.images)).value();
  EXPECT_EQ(again.written, Bytes(0));
  EXPECT_EQ(again.nodes, first.nodes);
  EXPECT_EQ(again.images, first.images);
  // Two pages around three images of one more block, and no more.
  const auto more =
      tier->store(path_batch(scope, chat_tokens(1, 192), rig.images)).value();
  EXPECT_EQ(more.written, Bytes(2 * 4096 + 4096 + 8192));
  EXPECT_EQ(tier->stats().value().images.count, 6);
}

TEST(DiskTier, ATailGoesWhereALongerNodeSupersedesIt) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const auto turn =
      tier->store(chat_batch(scope, chat_tokens(1, 70), "a", rig.images));
  ASSERT_TRUE(turn.ok()) << turn.status().text();
  const NodeId tail = turn.value().nodes[1];
  StoreBatch batch = path_batch(scope, chat_tokens(1, 130), rig.images);
  batch.nodes[1].supersedes = {tail};
  const auto next = tier->store(batch);
  ASSERT_TRUE(next.ok()) << next.status().text();
  EXPECT_THAT(next.value().removed.nodes, testing::ElementsAre(tail));
  // The record of 70 tokens now ends within the longer node.
  const StoredRecord record = tier->record({"chat", "a"}).value();
  EXPECT_EQ(record.leaf, next.value().nodes[1]);
  EXPECT_EQ(record.length, Position(70));
  EXPECT_EQ(tier->stats().value().dead, Bytes(4096 + 8192));
  expect_consistent(*tier);
}

TEST(DiskTier, RefusesToSupersedeWhatIsNoBeginningOfTheNode) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const auto other =
      tier->store(path_batch(scope, chat_tokens(2, 20), rig.images)).value();
  StoreBatch batch = path_batch(scope, chat_tokens(1, 30), rig.images);
  batch.nodes[0].supersedes = other.nodes;
  const Status status = tier->store(batch).status();
  EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(tier->stats().value().nodes, 1);
  EXPECT_EQ(segments_of(*rig.memory, "/state").size(), 1u);
}

TEST(DiskTier, EqualKeysOfOtherTokensAreNoHit) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  for (int chat = 0; chat < 20; ++chat) {
    StoreBatch batch = path_batch(scope, chat_tokens(chat, 64), rig.images);
    batch.nodes[0].key = {7, 7};
    ASSERT_TRUE(tier->store(batch).ok());
  }
  const Offered all = offered(*tier);
  EXPECT_EQ(all.nodes.size(), 20u);
}

TEST(DiskTier, EqualTokensWithOtherMarksAreAnotherNode) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  StoreBatch batch = path_batch(scope, chat_tokens(1, 64), rig.images);
  batch.nodes[0].marks = std::string("image \0 1", 9);
  const auto a = tier->store(batch).value();
  batch.nodes[0].marks = std::string("image \0 2", 9);
  const auto b = tier->store(batch).value();
  EXPECT_NE(a.nodes, b.nodes);
  Offered all = offered(*tier);
  EXPECT_EQ(all.nodes[a.nodes[0]].stored.marks, std::string("image \0 1", 9));
}

TEST(DiskTier, ScopesShareNothing) {
  TierRig rig;
  const auto tier = rig.open();
  const Tokens tokens = chat_tokens(1, 64);
  const auto a = tier->store(
      path_batch(tier->scope({"shard 0/2"}).value(), tokens, rig.images));
  const auto b = tier->store(
      path_batch(tier->scope({"shard 1/2"}).value(), tokens, rig.images));
  EXPECT_NE(a.value().nodes, b.value().nodes);
  EXPECT_EQ(tier->stats().value().images.count, 4);
}

TEST(DiskTier, RefusesABatchThatIsNotOne) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const StoreBatch right = path_batch(scope, chat_tokens(1, 100), rig.images);
  const auto refused = [&](const auto& spoil) {
    StoreBatch batch = right;
    spoil(batch);
    return code_of([&] { std::ignore = tier->store(batch); }) ==
        ErrorCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused([](auto& b) { b.nodes[0].tokens.clear(); }));
  EXPECT_TRUE(refused([](auto& b) { b.nodes[0].tokens.resize(65); }));
  EXPECT_TRUE(refused([](auto& b) { b.nodes[0].tokens.resize(63); }));
  EXPECT_TRUE(refused([](auto& b) { b.nodes[1].parent_in_batch = 1; }));
  EXPECT_TRUE(refused([](auto& b) { b.nodes[1].parent_in_batch = -2; }));
  EXPECT_TRUE(refused([](auto& b) { b.nodes[0].images[1].slot = kFull; }));
  EXPECT_TRUE(refused([](auto& b) { b.nodes[0].images[0].slot.phase = -1; }));
  EXPECT_TRUE(refused([](auto& b) { b.nodes[0].images[0].block = {}; }));
  EXPECT_TRUE(refused([](auto& b) { b.nodes[0].images[1].planes.pop_back(); }));
  EXPECT_TRUE(refused([](auto& b) { b.nodes[0].cost = -1; }));
  EXPECT_TRUE(refused([](auto& b) { b.record = RecordToStore{}; }));
  EXPECT_TRUE(refused([](auto& b) {
    b.record = RecordToStore{};
    b.record->name = "a";
    b.record->leaf_in_batch = 2;
  }));
  EXPECT_EQ(tier->stats().value().nodes, 0);
  EXPECT_TRUE(segments_of(*rig.memory, "/state").empty());
}

TEST(DiskTier, ARecordEndsWithinItsLeaf) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  StoreBatch batch = chat_batch(scope, chat_tokens(1, 100), "a", rig.images);
  for (const int64_t length : {0, 64, 101, -1}) {
    batch.record->length = Position(length);
    EXPECT_EQ(tier->store(batch).status().code(), ErrorCode::kInvalidArgument)
        << length;
  }
  for (const int64_t length : {65, 100}) {
    batch.record->length = Position(length);
    EXPECT_TRUE(tier->store(batch).ok()) << length;
  }
}

TEST(DiskTier, ANewerRecordIsNotReplacedByAnOlder) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  StoreBatch batch = chat_batch(scope, chat_tokens(1, 100), "a", rig.images);
  batch.record->version = 9;
  ASSERT_TRUE(tier->store(batch).ok());
  batch.record->version = 8;
  EXPECT_EQ(tier->store(batch).status().code(), ErrorCode::kStale);
  batch.record->version = 9;
  batch.record->body = "replaced";
  ASSERT_TRUE(tier->store(batch).ok());
  EXPECT_EQ(tier->record_body({"chat", "a"}).value(), "replaced");
  EXPECT_EQ(tier->stats().value().records, 1);
  EXPECT_EQ(tier->stats().value().bodies.count, 1);
}

TEST(DiskTier, ARecordWithoutTokensMayCarryABody) {
  TierRig rig;
  const auto tier = rig.open();
  StoreBatch batch;
  batch.scope = tier->scope(kScope).value();
  batch.record = RecordToStore{};
  batch.record->space = "generation";
  batch.record->name = std::string("\0 odd/\xff name", 12);
  batch.record->body = std::string(5000, 'x');
  ASSERT_TRUE(tier->store(batch).ok());
  const RecordName name{"generation", batch.record->name};
  EXPECT_EQ(tier->record_body(name).value(), batch.record->body);
  EXPECT_EQ(tier->records("generation").value().at(0).name, name);
  EXPECT_TRUE(tier->records("other").value().empty());
  batch.record->body.clear();
  ASSERT_TRUE(tier->store(batch).ok());
  EXPECT_EQ(tier->record_body(name).value(), "");
  expect_consistent(*tier);
}

TEST(DiskTier, SaysThatAParentIsGone) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const auto stored =
      tier->store(path_batch(scope, chat_tokens(1, 64), rig.images)).value();
  ASSERT_TRUE(tier->remove_nodes(stored.nodes).ok());
  StoreBatch batch = path_batch(scope, chat_tokens(1, 10), rig.images);
  batch.nodes[0].parent = stored.nodes[0];
  EXPECT_EQ(tier->store(batch).status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(
      tier->map(stored.images[0][0]).status().code(), ErrorCode::kNotFound);
  batch.scope = ScopeId(scope.get() + 1);
  EXPECT_EQ(tier->store(batch).status().code(), ErrorCode::kNotFound);
}

TEST(DiskTier, AMappedImageKeepsItsBytesThroughEviction) {
  TierRig rig;
  auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const Tokens tokens = chat_tokens(1, 64);
  const auto stored =
      tier->store(path_batch(scope, tokens, rig.images)).value();
  const MappedImage image = tier->map(stored.images[0][1]).value();
  EXPECT_EQ(tier->stats().value().leases, 1);
  const Removed removed = tier->remove_nodes(stored.nodes).value();
  EXPECT_EQ(removed.freed, Bytes(0));
  EXPECT_EQ(removed.held, Bytes(4096 + 8192));
  EXPECT_EQ(text_of(image), Images::text(tokens, kSliding));
  tier.reset();
  // The lease lasts as long as the image, not as the tier.
  const auto other = rig.open();
  EXPECT_EQ(other->prune().value().freed, Bytes(0));
  EXPECT_EQ(text_of(image), Images::text(tokens, kSliding));
}

TEST(DiskTier, WhatWasHeldIsGivenBackOnceItIsNoLongerMapped) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const auto stored =
      tier->store(path_batch(scope, chat_tokens(1, 64), rig.images)).value();
  {
    const MappedImage image = tier->map(stored.images[0][0]).value();
    ASSERT_TRUE(tier->remove_nodes(stored.nodes).ok());
  }
  EXPECT_EQ(tier->prune().value().freed, Bytes(5 * 4096));
  EXPECT_TRUE(segments_of(*rig.memory, "/state").empty());
  EXPECT_TRUE(rig.names("/open").size() == 1) << "its own lock alone";
}

TEST(DiskTier, SaysWhetherOthersChangedTheManifest) {
  TierRig rig;
  const auto a = rig.open();
  const auto b = rig.open();
  offered(*a);
  EXPECT_FALSE(a->changed_by_others().value());
  const ScopeId scope = a->scope(kScope).value();
  EXPECT_FALSE(a->changed_by_others().value()) << "its own changes";
  ASSERT_TRUE(b->store(path_batch(scope, chat_tokens(1, 64), rig.images)).ok());
  EXPECT_TRUE(a->changed_by_others().value());
  EXPECT_EQ(offered(*a).nodes.size(), 1u);
  EXPECT_FALSE(a->changed_by_others().value());
}

TEST(DiskTier, CountsWhatItWrites) {
  TierRig rig;
  Bytes first;
  {
    const auto tier = rig.open();
    const ScopeId scope = tier->scope(kScope).value();
    const auto stored =
        tier->store(path_batch(scope, chat_tokens(1, 64), rig.images)).value();
    first = tier->stats().value().written_today;
    EXPECT_GE(first, stored.written);
  }
  rig.clock->set_wall_ns(rig.clock->wall_ns() + int64_t{86400} * 1000000000);
  const auto tier = rig.open();
  EXPECT_EQ(tier->stats().value().written_today, Bytes(0));
  EXPECT_GE(tier->stats().value().written_total, first);
}

} // namespace
} // namespace holdfast::test
