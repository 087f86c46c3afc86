// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Every field of the manifest's pages, damaged as a medium does, and under a
// checksum that is right, as a program that is wrong would. The database's
// header and its pages are those of SQLite's file format.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <vector>

#include "holdfast/tier/sqlite_file.h"
#include "holdfast/tier/sqlite_vfs.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

using testing::Contains;
using testing::HasSubstr;

const ScopeText kScope{"model a"};
constexpr const char* kPath = "/state/manifest.db";

/// Bytes [offset, offset + size) of a page.
struct Field {
  const char* name;
  int64_t offset;
  int64_t size;
};

// Of the file, at the begin of page 1.
constexpr Field kFileFields[] = {
    {"magic", 0, 16},
    {"page size", 16, 2},
    {"write version", 18, 1},
    {"read version", 19, 1},
    {"reserved bytes", 20, 1},
    {"payload fractions", 21, 3},
    {"change counter", 24, 4},
    {"pages", 28, 4},
    {"first free page", 32, 4},
    {"free pages", 36, 4},
    {"schema cookie", 40, 4},
    {"schema format", 44, 4},
    {"cache size", 48, 4},
    {"largest root", 52, 4},
    {"text encoding", 56, 4},
    {"user version", 60, 4},
    {"incremental vacuum", 64, 4},
    {"application", 68, 4},
    {"zeros", 72, 20},
    {"version valid for", 92, 4},
    {"library version", 96, 4},
};

// Of a page with rows or index entries; of page 1 behind the file's.
constexpr Field kPageFields[] = {
    {"type", 0, 1},
    {"first free block", 1, 2},
    {"cells", 3, 2},
    {"content begin", 5, 2},
    {"fragments", 7, 1},
    {"right child or first cell", 8, 4},
    {"content", 2000, 64},
    {"checksum", 4088, 8},
};

enum class By { kMedium, kProgram };

class ManifestField : public testing::Test {
 protected:
  ManifestField() {
    const auto tier = rig_.open();
    const ScopeId scope = tier->scope(kScope).value();
    for (const int chat : {1, 2, 3}) {
      tier->store(chat_batch(
                      scope,
                      chat_tokens(chat, 200, 64),
                      "chat " + std::to_string(chat),
                      rig_.images))
          .value();
    }
    const std::string value(300, 'v');
    const ObjectToStore object{
        .space = "encoder",
        .key = "a",
        .bytes = std::as_bytes(std::span(value))};
    tier->put_objects(std::span(&object, 1)).value();
  }

  static void map_all(DiskTier& tier) {
    Offered all;
    EXPECT_TRUE(tier.load(all).ok());
    for (const auto& [id, node] : all.nodes) {
      for (const StoredImage& image : node.stored.images) {
        const auto mapped = tier.map(image.extent);
        EXPECT_TRUE(
            !mapped.ok() ||
            text_of(mapped.value()) == Images::text(node.path, image.slot));
      }
    }
  }

  int64_t pages() const {
    return rig_.memory->facts(kPath).value().size.get() / kDatabasePage;
  }

  /// A device with that damage, and the tier's answers over it.
  void damage(int64_t page, const Field& field, uint8_t mask, By by) {
    const auto memory = rig_.memory->power_loss(
        {.keep = PowerLoss::Keep::kEverything, .seed = 0});
    {
      const auto file =
          memory->open(kPath, FileSystem::Access::kReadWrite).value();
      std::array<std::byte, kDatabasePage> bytes;
      const Bytes at(page * kDatabasePage);
      file->read(at, bytes).check();
      for (int64_t i = field.offset; i < field.offset + field.size; ++i) {
        bytes[static_cast<size_t>(i)] ^= std::byte{mask};
      }
      if (by == By::kProgram) {
        seal_database_page(bytes, static_cast<uint32_t>(page + 1));
      }
      file->write(at, bytes).check();
    }
    DiskTierOptions options = rig_.options;
    options.files = memory;
    const auto opened = DiskTier::open(options);
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    DiskTier& tier = *opened.value();
    map_all(tier); // what shows when a segment is mapped shows here
    const Offered all = offered(tier); // compares whatever is offered
    const bool aside = testing::Value(
        names_in(*memory, "/state"), Contains(HasSubstr(".aside")));
    const auto object = tier.object("encoder", "a");
    EXPECT_TRUE(!object.ok() || text_of(object.value())[299] == 'v');
    EXPECT_TRUE(tier.verify().ok());
    // All there is or, of a manifest that was set aside, nothing.
    EXPECT_EQ(all.records.size(), aside ? 0u : 3u);
    for (const int chat : {1, 2, 3}) {
      EXPECT_EQ(all.restorable(chat_tokens(chat, 200, 64)), aside ? 0 : 200);
    }
    if (by == By::kMedium && page == 0) {
      EXPECT_TRUE(aside) << "page 1 is always read";
    }
    // And it goes on.
    const ScopeId scope = tier.scope(kScope).value();
    EXPECT_TRUE(
        tier.store(path_batch(scope, chat_tokens(9, 64), rig_.images)).ok());
    expect_consistent(tier);
  }

  TierRig rig_;
};

TEST_F(ManifestField, OfTheFileDamagedByTheMediumIsSetAside) {
  for (const Field& field : kFileFields) {
    for (const uint8_t mask : {0x01, 0x80, 0xff}) {
      SCOPED_TRACE(std::string(field.name) + " ^ " + std::to_string(mask));
      damage(0, field, mask, By::kMedium);
    }
  }
}

TEST_F(ManifestField, OfAPageDamagedByTheMediumIsNoWrongAnswer) {
  for (int64_t page = 0; page < pages(); ++page) {
    for (Field field : kPageFields) {
      SCOPED_TRACE(std::string(field.name) + " of " + std::to_string(page));
      field.offset += page == 0 && field.offset < 100 ? 100 : 0;
      damage(page, field, 0x10, By::kMedium);
    }
  }
}

// A whole database of another program's. One of another version of ours is
// refused: manifest_version_test.cpp.
TEST_F(ManifestField, OfAnotherProgramIsSetAsideThoughItIsWhole) {
  for (const char* name : {"magic", "application"}) {
    for (const Field& field : kFileFields) {
      if (std::string(field.name) == name) {
        SCOPED_TRACE(name);
        damage(0, field, 0x01, By::kProgram);
      }
    }
  }
}

} // namespace
} // namespace holdfast::test
