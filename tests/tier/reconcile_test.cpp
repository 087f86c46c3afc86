// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a disk tier finds when it is opened, and damage while it is open.

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/tier/sqlite_vfs.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using Action = TierFinding::Action;

const ScopeText kScope{"model a"};

std::string findings_of(const DiskTier& tier) {
  std::string text;
  for (const TierFinding& finding : tier.report().findings) {
    text += finding.file + " (" +
        std::to_string(static_cast<int>(finding.action)) +
        "): " + finding.reason + "\n";
  }
  return text;
}

/// Two chats of one block each, stored and closed; their segments.
std::vector<std::string> two_chats(TierRig& rig) {
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  for (int chat = 1; chat <= 2; ++chat) {
    tier->store(path_batch(scope, chat_tokens(chat, 64), rig.images)).value();
  }
  return segments_of(*rig.memory, "/state");
}

void make_file(TierRig& rig, const std::string& name, size_t size) {
  const auto file = rig.memory->create("/state/" + name).value();
  file->write(Bytes(0), std::vector<std::byte>(size, std::byte{1})).check();
}

TEST(DiskTierOpen, MakesAPrivateFolder) {
  TierRig rig;
  rig.options.folder = "/state//";
  const auto tier = rig.open();
  EXPECT_EQ(rig.memory->facts("/state").value().mode, 0700u);
  for (const std::string& name : rig.names()) {
    const FileFacts facts = rig.memory->facts("/state/" + name).value();
    EXPECT_EQ(
        facts.mode, facts.kind == FileFacts::Kind::kFolder ? 0700u : 0600u)
        << name;
  }
  EXPECT_EQ(findings_of(*tier), "");
}

TEST(DiskTierOpen, SaysWhyAFolderCannotBeUsed) {
  TierRig rig;
  rig.options.folder = "/missing/state";
  EXPECT_EQ(DiskTier::open(rig.options).status().code(), ErrorCode::kNotFound);
  rig.memory->create("/file").value();
  rig.options.folder = "/file";
  EXPECT_FALSE(DiskTier::open(rig.options).ok());
  rig.options.folder = "/state";
  two_chats(rig);
  rig.memory->set_read_only(true);
  const Status status = DiskTier::open(rig.options).status();
  EXPECT_EQ(status.code(), ErrorCode::kIo);
  EXPECT_THAT(status.text(), HasSubstr("/state"));
}

TEST(DiskTierOpen, RemovesLeftoversAndSaysSo) {
  TierRig rig;
  const auto known = two_chats(rig);
  // A segment that the manifest does not know, and one of a dead writer.
  make_file(rig, "0123456789abcdef-7.segment", 9000);
  make_file(rig, "open/0123456789abcdef-8.unfinished", 5000);
  make_file(rig, "open/0123456789abcdef.lock", 0);
  make_file(rig, "open/0123456789abcdef.9.0123456789abcdef-7.lease", 0);
  const auto tier = rig.open();
  EXPECT_EQ(segments_of(*rig.memory, "/state"), known);
  EXPECT_EQ(rig.names("/open").size(), 1u);
  EXPECT_EQ(tier->report().removed, 2);
  EXPECT_THAT(findings_of(*tier), HasSubstr("the manifest does not name it"));
  EXPECT_THAT(findings_of(*tier), HasSubstr("did not finish"));
  expect_consistent(*tier);
}

TEST(DiskTierOpen, CountsWhatIsNotItsOwnAndLeavesItAlone) {
  TierRig rig;
  two_chats(rig);
  make_file(rig, "notes.txt", 5000);
  make_file(rig, "0123456789ABCDEF-7.segment", 5000); // odd spelling
  make_file(rig, "0123456789abcdef-07.segment", 5000);
  make_file(rig, ".segment", 5000);
  make_file(rig, "open/other", 5000);
  rig.memory->create_folder("/state/folder").check();
  make_file(rig, "folder/file", 5000);
  const auto tier = rig.open();
  EXPECT_EQ(tier->report().foreign, 5);
  EXPECT_EQ(tier->report().removed, 0);
  EXPECT_EQ(tier->stats().value().foreign, Bytes(5 * 8192 + 5000));
  EXPECT_THAT(rig.names(), Contains("notes.txt"));
  EXPECT_EQ(rig.names("/open").size(), 2u);
}

TEST(DiskTierOpen, ASegmentThatIsGoneIsDroppedFromTheManifest) {
  TierRig rig;
  const auto segments = two_chats(rig);
  rig.memory->remove(segments[0]).check();
  const auto tier = rig.open();
  const Offered all = offered(*tier);
  EXPECT_EQ(all.nodes.size(), 1u);
  EXPECT_THAT(findings_of(*tier), HasSubstr("the file is missing"));
  expect_consistent(*tier);
}

TEST(DiskTierOpen, ASegmentOfTheWrongSizeIsDropped) {
  TierRig rig;
  const auto segments = two_chats(rig);
  rig.memory->open(segments[1], FileSystem::Access::kReadWrite)
      .value()
      ->truncate(Bytes(4096))
      .check();
  const auto tier = rig.open();
  EXPECT_EQ(offered(*tier).nodes.size(), 1u);
  EXPECT_EQ(segments_of(*rig.memory, "/state").size(), 1u);
}

// FAULTS B73, B87: whatever a file holds, it is refused with a reason, what
// else is stored stays, and the same state can be stored again.
TEST(DiskTierFaults, B73_NoDamageOfASegmentIsOfferedOrSpoilsTheRest) {
  for (const int64_t offset : {0, 8, 40, 4088, 4096, 8191, 16384, 16500}) {
    TierRig rig;
    const auto segments = two_chats(rig);
    flip(*rig.memory, segments[0], offset);
    const auto tier = rig.open();
    Offered all;
    ASSERT_TRUE(tier->load(all).ok());
    int corrupt = 0;
    for (const auto& [id, node] : all.nodes) {
      for (const StoredImage& image : node.stored.images) {
        const auto mapped = tier->map(image.extent);
        if (mapped.ok()) {
          EXPECT_EQ(
              text_of(mapped.value()), Images::text(node.path, image.slot));
        } else {
          ++corrupt;
          const ErrorCode code = mapped.status().code();
          EXPECT_TRUE(
              code == ErrorCode::kCorrupt || code == ErrorCode::kNotFound)
              << mapped.status().text();
        }
      }
    }
    EXPECT_GE(corrupt, 1) << offset;
    EXPECT_GE(tier->report().corrupt_images, 1) << offset;
    offered(*tier); // what is left is right
    const ScopeId scope = tier->scope(kScope).value();
    for (int chat = 1; chat <= 2; ++chat) {
      ASSERT_TRUE(
          tier->store(path_batch(scope, chat_tokens(chat, 64), rig.images))
              .ok());
      EXPECT_EQ(offered(*tier).restorable(chat_tokens(chat, 64)), 64);
    }
    expect_consistent(*tier);
  }
}

TEST(DiskTierFaults, B73_ATruncatedSegmentIsRefusedAtAnyLength) {
  for (int64_t size = 0; size < 5 * 4096; size += 1024) {
    TierRig rig;
    const auto segments = two_chats(rig);
    const auto tier = rig.open();
    rig.memory->open(segments[0], FileSystem::Access::kReadWrite)
        .value()
        ->truncate(Bytes(size))
        .check();
    Offered all;
    ASSERT_TRUE(tier->load(all).ok());
    const StoredNode& node = all.nodes.begin()->second.stored;
    EXPECT_EQ(
        tier->map(node.images[0].extent).status().code(), ErrorCode::kCorrupt)
        << size;
    EXPECT_EQ(offered(*tier).nodes.size(), 1u);
  }
}

TEST(DiskTierFaults, B87_AnotherSegmentUnderTheNameIsRefused) {
  TierRig rig;
  const auto segments = two_chats(rig);
  // Same size, a right format, another content.
  rig.memory->rename(segments[1], segments[0]).check();
  const auto tier = rig.open();
  EXPECT_TRUE([&] {
    Offered all;
    tier->load(all).check();
    const auto image = all.nodes.begin()->second.stored.images[0].extent;
    return tier->map(image).status().code() == ErrorCode::kCorrupt;
  }());
  EXPECT_TRUE(offered(*tier).nodes.empty());
}

TEST(DiskTierFaults, B87_VerifyNeverStillRefusesAnotherSegment) {
  TierRig rig;
  rig.options.verify = Verify::kNever;
  const auto segments = two_chats(rig);
  flip(*rig.memory, segments[0], 100);
  const auto tier = rig.open();
  Offered all;
  tier->load(all).check();
  EXPECT_EQ(
      tier->map(all.nodes.begin()->second.stored.images[0].extent)
          .status()
          .code(),
      ErrorCode::kCorrupt);
}

TEST(DiskTierFaults, B77_StoringAgainUnderALiveMappingKeepsItsBytes) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const Tokens tokens = chat_tokens(1, 64);
  const StoreBatch batch = path_batch(scope, tokens, rig.images);
  const auto first = tier->store(batch).value();
  const MappedImage image = tier->map(first.images[0][1]).value();
  ASSERT_TRUE(tier->remove_nodes(first.nodes).ok());
  const auto again = tier->store(batch).value();
  ASSERT_TRUE(tier->evict(Bytes(int64_t{1} << 30)).ok());
  EXPECT_EQ(text_of(image), Images::text(tokens, kSliding));
  EXPECT_NE(again.nodes, first.nodes);
}

TEST(DiskTierFaults, B95_AFileGrowsWithItsTokensAndKnowsTheirNumber) {
  for (const int64_t length : {1, 63, 64, 65, 127, 128, 129}) {
    TierRig rig;
    const auto tier = rig.open();
    const ScopeId scope = tier->scope(kScope).value();
    const Tokens tokens = chat_tokens(1, length);
    const auto stored =
        tier->store(path_batch(scope, tokens, rig.images)).value();
    const int64_t blocks = (length + 63) / 64;
    EXPECT_EQ(stored.written, Bytes((2 + 3 * blocks) * 4096)) << length;
    EXPECT_EQ(offered(*tier).restorable(tokens), length);
  }
}

TEST(DiskTierFaults, B91_TwoShardsAndAnotherLayoutAreKeptApart) {
  TierRig rig;
  std::vector<std::string> segments;
  {
    const auto tier = rig.open();
    for (const char* shard : {"shard 0/2", "shard 1/2"}) {
      const ScopeId scope = tier->scope({shard}).value();
      tier->store(path_batch(scope, chat_tokens(1, 64), rig.images)).value();
    }
    EXPECT_EQ(offered(*tier).nodes.size(), 2u);
    segments = segments_of(*rig.memory, "/state");
    EXPECT_EQ(segments.size(), 2u);
  }
  flip(*rig.memory, segments[0], 16); // the image layout
  const auto tier = rig.open();
  Offered all;
  tier->load(all).check();
  const Status refused =
      tier->map(all.nodes.begin()->second.stored.images[0].extent).status();
  EXPECT_EQ(refused.code(), ErrorCode::kCorrupt);
}

TEST(DiskTierManifest, ADamagedOneIsSetAsideAndANewOneBegun) {
  for (const int64_t offset : {0, 17, 20, 100, 2000, 4095}) {
    TierRig rig;
    two_chats(rig);
    flip(*rig.memory, "/state/manifest.db", offset);
    const auto tier = rig.open();
    const Offered all = offered(*tier);
    EXPECT_TRUE(all.nodes.empty()) << offset;
    EXPECT_EQ(segments_of(*rig.memory, "/state").size(), 0u) << offset;
    EXPECT_TRUE(std::ranges::any_of(rig.names(), [](const std::string& name) {
      return name.find(".aside") != name.npos;
    })) << offset;
    const ScopeId scope = tier->scope(kScope).value();
    ASSERT_TRUE(
        tier->store(path_batch(scope, chat_tokens(1, 64), rig.images)).ok());
    EXPECT_EQ(offered(*tier).restorable(chat_tokens(1, 64)), 64);
    // The old file is the first to go.
    EXPECT_GT(tier->evict(Bytes(1)).value().freed, Bytes(4096));
    EXPECT_EQ(offered(*tier).nodes.size(), 1u);
  }
}

TEST(DiskTierManifest, AnyByteThatIsDamagedIsNoWrongAnswer) {
  TierRig first;
  two_chats(first);
  const int64_t size =
      first.memory->facts("/state/manifest.db").value().size.get();
  for (int64_t offset = 3; offset < size; offset += 499) {
    TierRig rig;
    two_chats(rig);
    flip(*rig.memory, "/state/manifest.db", offset);
    const auto tier = rig.open();
    Offered listed; // damage shows at the latest when a segment is mapped
    EXPECT_TRUE(tier->load(listed).ok());
    for (const auto& [id, node] : listed.nodes) {
      for (const StoredImage& image : node.stored.images) {
        std::ignore = tier->map(image.extent);
      }
    }
    const Offered all = offered(*tier); // compares all that is offered
    EXPECT_TRUE(all.nodes.empty() || all.nodes.size() == 2) << offset;
    EXPECT_TRUE(tier->verify().ok()) << offset;
  }
}

TEST(DiskTierManifest, AFileThatIsNoDatabaseIsSetAside) {
  for (const std::string& content :
       {std::string("hello"), std::string(100000, 'x')}) {
    TierRig rig;
    two_chats(rig);
    const auto file =
        rig.memory->open("/state/manifest.db", FileSystem::Access::kReadWrite)
            .value();
    file->truncate(Bytes(0)).check();
    file->write(Bytes(0), std::as_bytes(std::span(content))).check();
    EXPECT_TRUE(offered(*rig.open()).nodes.empty());
  }
}

TEST(DiskTierManifest, DamageWhileOpenIsSetAsideToo) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const auto stored =
      tier->store(path_batch(scope, chat_tokens(1, 64), rig.images)).value();
  // Another tier sees the file from the disk, without a warm cache.
  const auto other = rig.open();
  const int64_t size =
      rig.memory->facts("/state/manifest.db").value().size.get();
  for (int64_t page = 0; page < size; page += 4096) {
    flip(*rig.memory, "/state/manifest.db", page + 2000);
  }
  EXPECT_TRUE(offered(*other).nodes.empty());
  // The first one notices that the file is another one.
  EXPECT_TRUE(offered(*tier).nodes.empty());
  EXPECT_EQ(
      tier->map(stored.images[0][0]).status().code(), ErrorCode::kNotFound);
  StoreBatch batch = path_batch(scope, chat_tokens(1, 64), rig.images);
  EXPECT_EQ(tier->store(batch).status().code(), ErrorCode::kNotFound)
      << "ids of the old manifest mean nothing in the new one";
  batch.scope = tier->scope(kScope).value();
  EXPECT_NE(batch.scope, scope);
  EXPECT_TRUE(tier->store(batch).ok());
  EXPECT_EQ(offered(*other).nodes.size(), 1u);
}

TEST(DiskTierManifest, AFolderOrAnOddFileInItsPlaceIsSetAside) {
  TierRig rig;
  two_chats(rig);
  rig.memory->remove("/state/manifest.db").check();
  rig.memory->create_folder("/state/manifest.db").check();
  const auto tier = rig.open();
  EXPECT_TRUE(offered(*tier).nodes.empty());
  EXPECT_THAT(findings_of(*tier), HasSubstr("no regular file"));
}

TEST(SqliteVfs, APageKnowsItsBytesAndItsPlace) {
  std::vector<std::byte> page(kDatabasePage, std::byte{3});
  seal_database_page(page, 7);
  EXPECT_TRUE(database_page_is_whole(page, 7));
  EXPECT_FALSE(database_page_is_whole(page, 8));
  for (const size_t byte : {size_t{0}, size_t{4087}, size_t{4095}}) {
    page[byte] ^= std::byte{1};
    EXPECT_FALSE(database_page_is_whole(page, 7));
    page[byte] ^= std::byte{1};
  }
  EXPECT_FALSE(
      database_page_is_whole(std::vector<std::byte>(kDatabasePage), 1));
}

} // namespace
} // namespace holdfast::test
