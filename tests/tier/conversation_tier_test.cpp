// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Records out of one tier and into another.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/env/faulty_file_system.h"
#include "holdfast/tier/conversation_export.h"
#include "holdfast/tier/conversation_import.h"
#include "tests/tier/conversation_support.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

constexpr int64_t kTokens = 200; // three blocks and a tail
const RecordName kChat{"chat", "one"};
const ScopeText kScopeText{"a scope"};

ConversationImport how_to() {
  ConversationImport how;
  how.scope = kScopeText;
  how.planes = {{{Bytes(4096)}}, {{Bytes(4096), Bytes(1024), Bytes(3072)}}};
  how.name = {"chat", "imported"};
  return how;
}

/// A tier with one chat, and the chat's file at "/file" beside it.
struct ExportRig {
  TierRig rig;
  std::unique_ptr<DiskTier> tier = rig.open();

  ExportRig() {
    StoreBatch batch = chat_batch(
        tier->scope(kScopeText).value(),
        chat_tokens(0, kTokens),
        "one",
        rig.images);
    Key128 key; // as an import names nodes
    for (NodeToStore& node : batch.nodes) {
      node.key = key = chained_key(key, node.tokens, node.marks);
    }
    batch.record->version = 1; // as an import numbers it
    batch.record->body = "body of one at 1";
    tier->store(batch).value();
  }
  ExportedConversation to_file(int level = 0) {
    return export_record(*tier, kChat, {rig.memory, "/file", level}).value();
  }
  std::unique_ptr<ConversationReader> file() const {
    return ConversationReader::open(*rig.memory, "/file").value();
  }
};

TEST(ConversationTier, ARecordComesBackWholeInAnotherTier) {
  for (const int level : {0, 1}) {
    for (const int64_t batch : {1, 20000, 1 << 20}) {
      ExportRig from;
      const auto exported = from.to_file(level);
      EXPECT_EQ(exported.tokens, Position(kTokens));
      EXPECT_EQ(exported.images, 8);
      EXPECT_EQ(exported.image_bytes, Bytes(4 * 12288));
      TierRig to;
      const auto tier = to.open();
      ConversationImport how = how_to();
      how.name = kChat; // as its body says
      how.batch = Bytes(batch);
      const auto imported =
          import_conversation(*tier, *from.file(), how).value();
      EXPECT_EQ(imported.tokens, Position(kTokens));
      EXPECT_EQ(imported.images, 8);
      const Offered all = offered(*tier);
      EXPECT_EQ(all.restorable(chat_tokens(0, kTokens)), kTokens);
      const StoredRecord& record = all.records.at(kChat);
      EXPECT_EQ(record.length, Position(kTokens));
      EXPECT_EQ(all.nodes.at(record.leaf).path, chat_tokens(0, kTokens));
      EXPECT_EQ(all.scopes.at(record.scope), kScopeText.text);
      expect_consistent(*tier);
    }
  }
}

// Its last node is a longer text's.
TEST(ConversationTier, ARecordTakesNothingAlongThatComesBehindIt) {
  ExportRig from;
  StoreBatch shorter = chat_batch(
      from.tier->scope(kScopeText).value(),
      chat_tokens(0, 192), // its leaf is of 129 to 192
      "two",
      from.rig.images);
  shorter.record->length = Position(150);
  shorter.record->version = 1; // as an import numbers it
  shorter.record->body = "body of two at 1";
  from.tier->store(shorter).value();
  const auto exported =
      export_record(*from.tier, {"chat", "two"}, {from.rig.memory, "/file", 0})
          .value();
  EXPECT_EQ(exported.tokens, Position(150));
  EXPECT_EQ(exported.images, 4); // of the two full nodes
  EXPECT_EQ(exported.image_bytes, Bytes(2 * 12288));
  const auto file = from.file();
  ASSERT_EQ(file->content().nodes.size(), 3u);
  EXPECT_EQ(std::ssize(file->content().nodes.back().tokens), 150 - 128);
  TierRig to;
  const auto tier = to.open();
  ConversationImport how = how_to();
  how.name = {"chat", "two"};
  import_conversation(*tier, *file, how).value();
  EXPECT_EQ(
      tier->record_text({"chat", "two"}).value().tokens, chat_tokens(0, 150));
  EXPECT_EQ(offered(*tier).restorable(chat_tokens(0, 150)), 128);
  expect_consistent(*tier);
}

TEST(ConversationTier, WhatTheTierHasIsNotWrittenAgain) {
  ExportRig from;
  from.to_file();
  const auto imported =
      import_conversation(*from.tier, *from.file(), how_to()).value();
  EXPECT_LT(imported.written, Bytes(16384)); // the record's body alone
  EXPECT_EQ(
      from.tier->record({"chat", "imported"}).value().leaf,
      from.tier->record(kChat).value().leaf);
}

TEST(ConversationTier, ANameThatIsTakenIsReplacedOnlyWhereThatIsAsked) {
  ExportRig from;
  from.to_file();
  ConversationImport how = how_to();
  how.name = kChat;
  const auto refused = import_conversation(*from.tier, *from.file(), how);
  EXPECT_EQ(refused.status().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.status().text(), HasSubstr("chat/one"));
  how.replace = true;
  EXPECT_TRUE(import_conversation(*from.tier, *from.file(), how).ok());
}

TEST(
    ConversationTier,
    ImagesOfAnotherSizeOrSlotAreRefusedBeforeAnythingChanges) {
  ExportRig from;
  from.to_file();
  TierRig to;
  const auto tier = to.open();
  ConversationImport how = how_to();
  how.planes[1][0] = {Bytes(4096)};
  const auto other_size = import_conversation(*tier, *from.file(), how);
  EXPECT_EQ(other_size.status().code(), ErrorCode::kCorrupt);
  EXPECT_THAT(other_size.status().text(), HasSubstr("layer group 1"));
  how.planes.pop_back();
  EXPECT_FALSE(import_conversation(*tier, *from.file(), how).ok());
  EXPECT_EQ(tier->stats().value().scopes, 0);
}

TEST(ConversationTier, ADamagedFileLeavesTheTierAsItWas) {
  ExportRig from;
  const Bytes size = from.to_file(3).file_bytes;
  TierRig to;
  const auto tier = to.open();
  int refused = 0;
  for (int64_t offset = 0; offset < size.get(); offset += 97) {
    flip(*from.rig.memory, "/file", offset);
    const auto file = ConversationReader::open(*from.rig.memory, "/file");
    const bool taken =
        file.ok() && import_conversation(*tier, *file.value(), how_to()).ok();
    EXPECT_FALSE(taken) << offset;
    ++refused;
    flip(*from.rig.memory, "/file", offset);
  }
  EXPECT_GT(refused, 20);
  const TierStats stats = tier->stats().value();
  EXPECT_EQ(stats.nodes, 0);
  EXPECT_EQ(stats.records, 0);
}

TEST(ConversationTier, AnExportOfWhatIsNotThereLeavesNoFile) {
  ExportRig from;
  const auto none = export_record(
      *from.tier, {"chat", "another"}, {from.rig.memory, "/file", 0});
  EXPECT_EQ(none.status().code(), ErrorCode::kNotFound);
  for (const std::string& segment :
       segments_of(*from.rig.memory, from.rig.options.folder)) {
    flip(*from.rig.memory, segment, 5000);
  }
  const auto damaged =
      export_record(*from.tier, kChat, {from.rig.memory, "/file", 0});
  EXPECT_EQ(damaged.status().code(), ErrorCode::kCorrupt);
  for (const std::string& name : names_in(*from.rig.memory, "/")) {
    EXPECT_FALSE(name.starts_with("file")) << name;
  }
}

// A call of the tier's folder fails, whichever: the record is there with all of
// its state, or it is not there; nothing half-written is offered.
TEST(ConversationTier, AnImportThatFailsLeavesARecordWholeOrNone) {
  ExportRig from;
  from.to_file();
  const auto file = from.file();
  for (int64_t k = 0, ended = 0; ended == 0; k += 3) {
    TierRig to;
    const auto files = std::make_shared<FaultyFileSystem>(to.memory);
    to.options.files = files;
    auto tier = to.open();
    ConversationImport how = how_to();
    how.name = kChat; // as its body says
    how.batch = Bytes(20000);
    files->fail(
        {.kind = FileFault::Kind::kPowerLoss, .after = k, .once = false});
    const bool stored = import_conversation(*tier, *file, how).ok();
    ended = files->failed() == 0 ? 1 : 0;
    tier.reset();
    TierRig after;
    after.memory = to.memory->power_loss({});
    after.options.files = after.memory;
    const auto again = after.open();
    const Offered all = offered(*again);
    const bool found = all.records.contains(kChat);
    EXPECT_TRUE(found || !stored) << k;
    if (found) {
      EXPECT_EQ(all.restorable(chat_tokens(0, kTokens)), kTokens);
    }
    expect_consistent(*again);
  }
}

TEST(ConversationTier, WithoutRoomNothingIsNamed) {
  ExportRig from;
  from.to_file();
  TierRig to;
  to.options.max_bytes = Bytes(160'000); // an empty manifest has 80 KiB
  const auto tier = to.open();
  ConversationImport how = how_to();
  how.batch = Bytes(1);
  const auto refused = import_conversation(*tier, *from.file(), how);
  EXPECT_EQ(refused.status().code(), ErrorCode::kOutOfBudget);
  EXPECT_EQ(tier->stats().value().records, 0);
  expect_consistent(*tier);
}

} // namespace
} // namespace holdfast::test
