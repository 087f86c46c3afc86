// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The text behind a record, and the records that a longer one takes the place
// of.

#include <gtest/gtest.h>

#include "tests/tier/tier_rig.h"

namespace holdfast {
namespace {

using namespace test;

const ScopeText kScope{"model a"};

StoreBatch growing(
    ScopeId scope,
    const Tokens& tokens,
    const std::string& name,
    const Images& images) {
  StoreBatch batch = chat_batch(scope, tokens, name, images);
  batch.record->version = 0;
  batch.record->replaces_prefixes = true;
  return batch;
}

std::vector<std::string> names(DiskTier& tier) {
  std::vector<std::string> result;
  const auto records = tier.records();
  EXPECT_TRUE(records.ok()) << records.status().text();
  for (const StoredRecord& record : records.value()) {
    result.push_back(record.name.name);
  }
  return result;
}

TEST(RecordText, HasTheTokensOfItsNodesUpToItsLength) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  StoreBatch batch = chat_batch(scope, chat_tokens(1, 150), "a", rig.images);
  batch.nodes[1].marks = "opaque";
  batch.record->length = Position(140); // its leaf has more
  ASSERT_TRUE(tier->store(batch).ok());
  const RecordText text = tier->record_text({"chat", "a"}).value();
  EXPECT_EQ(text.tokens, chat_tokens(1, 140));
  EXPECT_EQ(text.marks, (std::vector<std::string>{"", "opaque", ""}));
  EXPECT_EQ(text.body, batch.record->body);
  EXPECT_EQ(text.scope, kScope.text);
  EXPECT_EQ(text.record.length, Position(140));
  EXPECT_EQ(
      tier->record_text({"chat", "b"}).status().code(), ErrorCode::kNotFound);
}

// Else it could not be named, and what it names not be forgotten.
TEST(RecordText, ADamagedBodyDoesNotTakeTheRecordWithIt) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const RecordName name{"chat", "a"};
  const StoreBatch batch = growing(scope, chat_tokens(1, 150), "a", rig.images);
  ASSERT_TRUE(tier->store(batch).ok());
  const Extent body = tier->record(name).value().body;
  flip(
      *rig.memory, segments_of(*rig.memory, "/state").at(0), body.offset.get());
  for (int round = 0; round < 2; ++round) { // it is dropped by the first
    EXPECT_EQ(tier->record_text(name).status().code(), ErrorCode::kCorrupt);
    EXPECT_EQ(tier->record_body(name).status().code(), ErrorCode::kCorrupt);
  }
  EXPECT_TRUE(tier->record(name).value().body_lost);
  EXPECT_EQ(names(*tier), (std::vector<std::string>{"a"}));
  const RecordText text = tier->record_tokens(name).value();
  EXPECT_EQ(text.tokens, chat_tokens(1, 150));
  EXPECT_EQ(text.body, "");
  EXPECT_EQ(offered(*rig.open()).restorable(chat_tokens(1, 150)), 150);
  expect_consistent(*tier);
  // It is whole again once it is stored again.
  ASSERT_TRUE(tier->store(batch).ok());
  EXPECT_EQ(tier->record_text(name).value().body, batch.record->body);
  EXPECT_FALSE(tier->record(name).value().body_lost);
}

TEST(RecordText, OneWithADamagedBodyIsForgottenWithItsNodes) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  ASSERT_TRUE(
      tier->store(growing(scope, chat_tokens(1, 150), "a", rig.images)).ok());
  const Extent body = tier->record({"chat", "a"}).value().body;
  flip(
      *rig.memory, segments_of(*rig.memory, "/state").at(0), body.offset.get());
  EXPECT_EQ(tier->verify().value().dropped.size(), 1u);
  EXPECT_EQ(tier->forget({"chat", "a"}).value().nodes.size(), 3u);
  EXPECT_EQ(tier->stats().value().nodes, 0);
}

TEST(RecordText, VersionZeroIsOneMoreThanTheStoredOne) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  StoreBatch batch = growing(scope, chat_tokens(1, 100), "a", rig.images);
  EXPECT_EQ(tier->store(batch).value().version, 1u);
  EXPECT_EQ(tier->store(batch).value().version, 2u);
  batch.record->version = 9;
  EXPECT_EQ(tier->store(batch).value().version, 9u);
  batch.record->version = 0;
  EXPECT_EQ(tier->store(batch).value().version, 10u);
  EXPECT_EQ(tier->record({"chat", "a"}).value().version, 10u);
}

TEST(RecordText, APinStaysWhenTheRecordIsReplaced) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const StoreBatch batch = growing(scope, chat_tokens(1, 70), "a", rig.images);
  ASSERT_TRUE(tier->store(batch).ok());
  ASSERT_TRUE(tier->pin_record({"chat", "a"}, true).ok());
  ASSERT_TRUE(tier->store(batch).ok());
  EXPECT_TRUE(tier->record({"chat", "a"}).value().pinned);
  ASSERT_TRUE(tier->pin_record({"chat", "a"}, false).ok());
  ASSERT_TRUE(tier->store(batch).ok());
  EXPECT_FALSE(tier->record({"chat", "a"}).value().pinned);
}

TEST(RecordText, ALongerTextTakesThePlaceOfItsBeginnings) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const ScopeId other = tier->scope({"model b"}).value();
  const auto store = [&](ScopeId in, const Tokens& tokens, const char* name) {
    const Result<Stored> stored =
        tier->store(growing(in, tokens, name, rig.images));
    EXPECT_TRUE(stored.ok()) << stored.status().text();
    return stored.value().removed.records;
  };
  // At a block's end, within a block, and beside the longer text's way.
  EXPECT_TRUE(store(scope, chat_tokens(1, 64), "at 64").empty());
  EXPECT_TRUE(store(scope, chat_tokens(2, 100, 70), "fork").empty());
  EXPECT_TRUE(store(other, chat_tokens(1, 64), "other scope").empty());
  EXPECT_EQ(
      store(scope, chat_tokens(1, 90), "at 90"),
      (std::vector<RecordName>{{"chat", "at 64"}}));
  StoreBatch pinned = growing(scope, chat_tokens(1, 91), "pin", rig.images);
  pinned.record->pinned = true;
  pinned.record->replaces_prefixes = false;
  ASSERT_TRUE(tier->store(pinned).ok());
  EXPECT_EQ(
      store(scope, chat_tokens(1, 200), "at 200"),
      (std::vector<RecordName>{{"chat", "at 90"}}));
  EXPECT_EQ(
      names(*tier),
      (std::vector<std::string>{"at 200", "fork", "other scope", "pin"}));
  // The same again replaces nothing but itself.
  EXPECT_TRUE(store(scope, chat_tokens(1, 200), "at 200").empty());
  expect_consistent(*tier);
}

TEST(RecordText, ABeginningUnderOtherMarksIsAnotherText) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  StoreBatch marked = growing(scope, chat_tokens(1, 30), "marked", rig.images);
  marked.nodes[0].marks = "a picture";
  ASSERT_TRUE(tier->store(marked).ok());
  ASSERT_TRUE(
      tier->store(growing(scope, chat_tokens(1, 60), "plain", rig.images))
          .ok());
  EXPECT_EQ(names(*tier), (std::vector<std::string>{"marked", "plain"}));
}

TEST(RecordText, ARecordOfNoTokensIsNoBeginning) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  StoreBatch empty;
  empty.scope = scope;
  empty.record = RecordToStore{};
  empty.record->space = "chat";
  empty.record->name = "empty";
  empty.record->body = "x";
  ASSERT_TRUE(tier->store(empty).ok());
  ASSERT_TRUE(
      tier->store(growing(scope, chat_tokens(1, 60), "text", rig.images)).ok());
  EXPECT_EQ(names(*tier), (std::vector<std::string>{"empty", "text"}));
}

} // namespace
} // namespace holdfast
