// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What is left on a device in memory that loses power.

#include "holdfast/env/power_loss.h"

#include <map>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "file_bytes.h"
#include "holdfast/env/memory_file_system.h"

namespace holdfast {
namespace {

using Keep = PowerLoss::Keep;
constexpr Keep kAllKeeps[] = {
    Keep::kNothing,
    Keep::kEverything,
    Keep::kSome,
    Keep::kTornPrefix,
    Keep::kTornSectors};

class PowerLossTest : public testing::Test {
 protected:
  void SetUp() override {
    system_->create_folder("/s").check();
    system_->sync_folder("/").check();
  }
  /// The text of a file after a loss; "none" where it has no name.
  std::string after(PowerLoss loss, const std::string& path) const {
    const auto left = system_->power_loss(loss);
    return left->facts(path).ok() ? text_of(*left, path) : "none";
  }
  /// How often each text is left, over seeds.
  std::map<std::string, int>
  outcomes(Keep keep, const std::string& path) const {
    std::map<std::string, int> seen;
    for (uint64_t seed = 0; seed < 200; ++seed) {
      ++seen[after({keep, seed}, path)];
    }
    return seen;
  }

  std::shared_ptr<MemoryFileSystem> system_ = MemoryFileSystem::make();
};

TEST_F(PowerLossTest, KeepsWhatWasSyncedWhateverHappens) {
  make_durable(*system_, "/s/a", "safe");
  make_file(*system_, "/s/b", "new");
  system_->open("/s/a", FileSystem::Access::kReadWrite).value();
  for (const Keep keep : kAllKeeps) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      EXPECT_EQ(after({keep, seed}, "/s/a"), "safe");
    }
  }
}

TEST_F(PowerLossTest, DropsBytesAndNamesThatWereNotSynced) {
  make_durable(*system_, "/s/a", "safe");
  const auto a = system_->open("/s/a", FileSystem::Access::kReadWrite).value();
  ASSERT_TRUE(a->write(Bytes(0), bytes_of("lost more")).ok());
  const auto b = make_file(*system_, "/s/b", "synced");
  ASSERT_TRUE(b->sync().ok());
  EXPECT_EQ(after({Keep::kNothing}, "/s/a"), "safe");
  EXPECT_EQ(after({Keep::kNothing}, "/s/b"), "none") << "its name was not";
  EXPECT_EQ(after({Keep::kEverything}, "/s/a"), "lost more");
  EXPECT_EQ(after({Keep::kEverything}, "/s/b"), "synced");
  EXPECT_EQ(text_of(*a), "lost more") << "the machine itself goes on";
}

TEST_F(PowerLossTest, KeepsANameWithoutTheBytesThatWereNotSynced) {
  make_file(*system_, "/s/a", "never synced");
  ASSERT_TRUE(system_->sync_folder("/s").ok());
  EXPECT_EQ(after({Keep::kNothing}, "/s/a"), "");
}

TEST_F(PowerLossTest, MayReplaceAFileByANameWhoseBytesAreMissing) {
  make_durable(*system_, "/s/a", "old");
  make_file(*system_, "/s/a.new", "new");
  ASSERT_TRUE(system_->rename("/s/a.new", "/s/a").ok());
  const auto seen = outcomes(Keep::kSome, "/s/a");
  EXPECT_TRUE(seen.contains("old"));
  EXPECT_TRUE(seen.contains("new"));
  EXPECT_TRUE(seen.contains("")) << "the classic fault: rename before sync";
  EXPECT_FALSE(seen.contains("none")) << "a rename is whole or not at all";
}

TEST_F(PowerLossTest, LosesOrKeepsARenameThatWasNotSyncedAsAWhole) {
  make_durable(*system_, "/s/a", "old");
  make_durable(*system_, "/s/b", "new");
  ASSERT_TRUE(system_->rename("/s/b", "/s/a").ok());
  EXPECT_EQ(after({Keep::kNothing}, "/s/a"), "old");
  EXPECT_EQ(after({Keep::kNothing}, "/s/b"), "new");
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto left = system_->power_loss({Keep::kSome, seed});
    std::string all;
    for (const std::string& name : names_in(*left, "/s")) {
      all += name + "=" + text_of(*left, "/s/" + name) + " ";
    }
    seen.insert(all);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"a=old b=new ", "a=new "}));
  ASSERT_TRUE(system_->sync_folder("/s").ok());
  EXPECT_EQ(after({Keep::kNothing}, "/s/a"), "new");
  EXPECT_EQ(after({Keep::kNothing}, "/s/b"), "none");
}

TEST_F(PowerLossTest, BringsARemovedFileBackUntilItsFolderIsSynced) {
  make_durable(*system_, "/s/a", "back");
  ASSERT_TRUE(system_->remove("/s/a").ok());
  EXPECT_EQ(after({Keep::kNothing}, "/s/a"), "back");
  ASSERT_TRUE(system_->sync_folder("/s").ok());
  EXPECT_EQ(after({Keep::kNothing}, "/s/a"), "none");
}

TEST_F(PowerLossTest, SyncsANameWithEverythingThatItBuildsOn) {
  ASSERT_TRUE(system_->create_folder("/t").ok());
  ASSERT_TRUE(system_->sync_folder("/").ok());
  make_file(*system_, "/s/a", "x")->sync().check();
  ASSERT_TRUE(system_->rename("/s/a", "/t/b").ok());
  ASSERT_TRUE(system_->sync_folder("/t").ok());
  EXPECT_EQ(after({Keep::kNothing}, "/t/b"), "x");
  for (const Keep keep : kAllKeeps) {
    EXPECT_EQ(after({keep}, "/s/a"), "none") << "it cannot be in both";
  }
}

TEST_F(PowerLossTest, SyncsAMovedFolderWithEveryMoveBefore) {
  ASSERT_TRUE(system_->create_folder("/s/a").ok());
  ASSERT_TRUE(system_->create_folder("/s/a/b").ok());
  ASSERT_TRUE(system_->rename("/s/a/b", "/s/b").ok());
  ASSERT_TRUE(system_->rename("/s/a", "/s/b/a").ok());
  ASSERT_TRUE(system_->sync_folder("/s/b").ok());
  for (const Keep keep : kAllKeeps) {
    EXPECT_TRUE(system_->power_loss({keep})->facts("/s/b/a").ok());
  }
}

TEST_F(PowerLossTest, LosesAFolderWithAllThatIsInIt) {
  ASSERT_TRUE(system_->create_folder("/s/d").ok());
  make_durable(*system_, "/s/d/a", "deep");
  EXPECT_EQ(after({Keep::kNothing}, "/s/d/a"), "none");
  ASSERT_TRUE(system_->sync_folder("/s").ok());
  EXPECT_EQ(after({Keep::kNothing}, "/s/d/a"), "deep");
}

TEST_F(PowerLossTest, NeverLosesAFolderInsideItself) {
  ASSERT_TRUE(system_->create_folder("/s/a").ok());
  ASSERT_TRUE(system_->create_folder("/s/a/b").ok());
  ASSERT_TRUE(system_->sync_folder("/s").ok());
  make_durable(*system_, "/s/a/b/x", "x");
  ASSERT_TRUE(system_->sync_folder("/s/a").ok());
  ASSERT_TRUE(system_->rename("/s/a/b", "/s/b").ok());
  ASSERT_TRUE(system_->rename("/s/a", "/s/b/a").ok());
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto left = system_->power_loss({Keep::kSome, seed});
    for (const std::string path : {"/s/a/b/x", "/s/b/x"}) {
      if (left->facts(path).ok()) {
        seen.insert(path);
      }
    }
    EXPECT_FALSE(left->list("/s").value().empty()) << seed;
  }
  EXPECT_EQ(seen.size(), 2u);
}

TEST_F(PowerLossTest, TearsTheLastWriteAtASector) {
  make_durable(*system_, "/s/a", std::string(4096, '0'));
  const auto file =
      system_->open("/s/a", FileSystem::Access::kReadWrite).value();
  ASSERT_TRUE(file->write(Bytes(0), bytes_of(std::string(1024, '1'))).ok());
  ASSERT_TRUE(file->write(Bytes(700), bytes_of(std::string(2000, '2'))).ok());
  std::string before(4096, '0');
  std::fill_n(before.begin(), 1024, '1');
  std::set<size_t> ends;
  for (const auto& [text, count] : outcomes(Keep::kTornPrefix, "/s/a")) {
    ASSERT_EQ(text.size(), 4096u);
    size_t end = 700;
    while (end < 2700 && text[end] == '2') {
      ++end;
    }
    ends.insert(end);
    std::string expected = before;
    std::fill(expected.begin() + 700, expected.begin() + end, '2');
    EXPECT_EQ(text, expected);
  }
  EXPECT_EQ(ends, (std::set<size_t>{700, 1024, 1536, 2048, 2560, 2700}));
}

TEST_F(PowerLossTest, KeepsAnySectorsOfATornWrite) {
  make_durable(*system_, "/s/a", std::string(1536, '0'));
  const auto file =
      system_->open("/s/a", FileSystem::Access::kReadWrite).value();
  ASSERT_TRUE(file->write(Bytes(0), bytes_of(std::string(1536, '1'))).ok());
  const auto seen = outcomes(Keep::kTornSectors, "/s/a");
  EXPECT_EQ(seen.size(), 8u) << "2^3 subsets of three sectors";
  for (const auto& [text, count] : seen) {
    for (size_t i = 0; i < text.size(); ++i) {
      ASSERT_EQ(text[i], text[i / 512 * 512]) << "a sector is written whole";
    }
  }
}

TEST_F(PowerLossTest, LeavesEachSectorAtSomeEarlierState) {
  make_durable(*system_, "/s/a", std::string(1024, '0'));
  const auto file =
      system_->open("/s/a", FileSystem::Access::kReadWrite).value();
  for (const char* fill : {"1", "2", "3"}) {
    ASSERT_TRUE(
        file->write(Bytes(0), bytes_of(std::string(1024, fill[0]))).ok());
  }
  std::set<std::string> seen;
  for (const auto& [text, count] : outcomes(Keep::kSome, "/s/a")) {
    seen.insert({text[0], text[512]});
    EXPECT_EQ(text, std::string(512, text[0]) + std::string(512, text[512]));
  }
  EXPECT_EQ(seen.size(), 16u) << "4 states for each of two sectors";
}

TEST_F(PowerLossTest, MayKeepTheSizeWithoutTheBytes) {
  make_durable(*system_, "/s/a", "");
  const auto file =
      system_->open("/s/a", FileSystem::Access::kReadWrite).value();
  ASSERT_TRUE(file->write(Bytes(0), bytes_of("data")).ok());
  const auto seen = outcomes(Keep::kSome, "/s/a");
  EXPECT_TRUE(seen.contains(std::string(4, '\0')));
  EXPECT_TRUE(seen.contains("data"));
  EXPECT_TRUE(seen.contains(""));
  EXPECT_EQ(seen.size(), 3u);
}

TEST_F(PowerLossTest, SyncsTruncationsAndHolesToo) {
  make_durable(*system_, "/s/a", std::string(8192, 'x'));
  const auto file =
      system_->open("/s/a", FileSystem::Access::kReadWrite).value();
  ASSERT_TRUE(file->punch(Bytes(0), Bytes(4096)).ok());
  ASSERT_TRUE(file->truncate(Bytes(5000)).ok());
  EXPECT_EQ(after({Keep::kNothing}, "/s/a"), std::string(8192, 'x'));
  ASSERT_TRUE(file->sync().ok());
  const std::string expected = std::string(4096, '\0') + std::string(904, 'x');
  EXPECT_EQ(after({Keep::kNothing}, "/s/a"), expected);
  ASSERT_TRUE(file->truncate(Bytes(8000)).ok());
  EXPECT_EQ(
      after({Keep::kEverything}, "/s/a"), expected + std::string(3000, '\0'))
      << "what was cut does not come back";
}

TEST_F(PowerLossTest, TakesWholePagesAwayWithTheSizeOrNotAtAll) {
  make_durable(*system_, "/s/a", std::string(12288, 'x'));
  const auto file =
      system_->open("/s/a", FileSystem::Access::kReadWrite).value();
  ASSERT_TRUE(file->truncate(Bytes(1024)).ok());
  std::set<std::string> seen;
  for (const Keep keep : {Keep::kSome, Keep::kTornSectors, Keep::kTornPrefix}) {
    for (const auto& [text, count] : outcomes(keep, "/s/a")) {
      if (text.size() == 1024) {
        EXPECT_EQ(text, std::string(1024, 'x'));
        continue;
      }
      ASSERT_EQ(text.size(), 12288u);
      EXPECT_EQ(text.substr(4096), std::string(8192, 'x'));
      seen.insert(text.substr(1024, 3072));
    }
  }
  EXPECT_GT(seen.size(), 8u) << "the page that it ends in is zeroed in place";
}

TEST_F(PowerLossTest, WritesBehindALostTruncationAreLostWithIt) {
  make_durable(*system_, "/s/a", std::string(8192, '0'));
  const auto file =
      system_->open("/s/a", FileSystem::Access::kReadWrite).value();
  ASSERT_TRUE(file->truncate(Bytes(0)).ok());
  ASSERT_TRUE(file->write(Bytes(0), bytes_of(std::string(8192, '1'))).ok());
  std::set<std::string> seen;
  for (const auto& [text, count] : outcomes(Keep::kSome, "/s/a")) {
    // With the old blocks what they held; in new ones what got there.
    for (const char c : text) {
      seen.insert(std::string(1, c));
    }
    EXPECT_FALSE(text.find('0') != text.npos && text.find('1') != text.npos);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"0", "1", std::string(1, '\0')}));
}

TEST_F(PowerLossTest, IsTheSameForTheSameSeed) {
  make_durable(*system_, "/s/a", std::string(4096, '0'));
  const auto file =
      system_->open("/s/a", FileSystem::Access::kReadWrite).value();
  ASSERT_TRUE(file->write(Bytes(0), bytes_of(std::string(4096, '1'))).ok());
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(
        after({Keep::kSome, seed}, "/s/a"), after({Keep::kSome, seed}, "/s/a"));
  }
}

TEST_F(PowerLossTest, LosesForGoodWhatAFailedSyncLost) {
  make_durable(*system_, "/s/a", "old");
  const auto file =
      system_->open("/s/a", FileSystem::Access::kReadWrite).value();
  ASSERT_TRUE(file->write(Bytes(0), bytes_of("new")).ok());
  dynamic_cast<LossyFile&>(*file).lose_unsynced();
  EXPECT_EQ(text_of(*file), "new") << "readers still see it";
  ASSERT_TRUE(file->sync().ok());
  EXPECT_EQ(after({Keep::kEverything}, "/s/a"), "old");
  ASSERT_TRUE(file->write(Bytes(1), bytes_of("!")).ok());
  ASSERT_TRUE(file->sync().ok());
  EXPECT_EQ(after({Keep::kNothing}, "/s/a"), "o!d");
}

TEST_F(PowerLossTest, LetsGoOfLocks) {
  const auto lock = system_->lock("/s/l", FileSystem::Wait::kNo);
  ASSERT_TRUE(system_->sync_folder("/s").ok());
  const auto left = system_->power_loss({});
  EXPECT_TRUE(left->lock("/s/l", FileSystem::Wait::kNo).ok());
  EXPECT_FALSE(system_->lock("/s/l", FileSystem::Wait::kNo).ok());
}

TEST(MemoryRoom, BindsWritesAndComesBackWithTheLastUse) {
  const auto system = MemoryFileSystem::make(Bytes(8 * 4096));
  auto a = make_file(*system, "/a", std::string(5 * 4096, 'a'));
  EXPECT_EQ(system->free_space("/").value(), Bytes(3 * 4096));
  const auto b = system->create("/b").value();
  const Status full = b->write(Bytes(0), bytes_of(std::string(16'384, 'b')));
  EXPECT_EQ(full.code(), ErrorCode::kOutOfBudget);
  EXPECT_EQ(text_of(*b), std::string(12'288, 'b')) << "what fits is written";
  EXPECT_TRUE(a->write(Bytes(100), bytes_of("in place")).ok());
  ASSERT_TRUE(b->truncate(Bytes(0)).ok());
  EXPECT_EQ(system->free_space("/").value(), Bytes(3 * 4096));
  ASSERT_TRUE(a->punch(Bytes(0), Bytes(2 * 4096)).ok());
  EXPECT_EQ(system->free_space("/").value(), Bytes(5 * 4096));
  MappedBytes mapped = a->map(Bytes(8192), Bytes(4096)).value();
  ASSERT_TRUE(system->remove("/a").ok());
  a.reset();
  EXPECT_EQ(system->free_space("/").value(), Bytes(5 * 4096));
  mapped.reset();
  EXPECT_EQ(system->free_space("/").value(), Bytes(8 * 4096));
  system->set_room(Bytes(0));
  EXPECT_EQ(b->write(Bytes(0), bytes_of("x")).code(), ErrorCode::kOutOfBudget);
  EXPECT_EQ(system->free_space("/").value(), Bytes(0));
  system->set_room(Bytes(4096));
  EXPECT_TRUE(b->write(Bytes(0), bytes_of("x")).ok());
}

TEST(MemoryRoom, IsTakenAgainAfterPowerLoss) {
  const auto system = MemoryFileSystem::make(Bytes(8 * 4096));
  make_durable(*system, "/a", std::string(5000, 'a'));
  const auto left = system->power_loss({Keep::kNothing});
  EXPECT_EQ(left->free_space("/").value(), Bytes(6 * 4096));
}

TEST(MemoryReadOnly, RefusesEveryChangeAndStillReads) {
  const auto system = MemoryFileSystem::make();
  const auto file = make_file(*system, "/a", "text");
  ASSERT_TRUE(system->create_folder("/d").ok());
  system->set_read_only(true);
  for (const Status& status :
       {file->write(Bytes(0), bytes_of("x")),
        file->truncate(Bytes(0)),
        file->punch(Bytes(0), Bytes(1)),
        system->create("/b").status(),
        system->create_folder("/e"),
        system->rename("/a", "/b"),
        system->remove("/a"),
        system->lock("/l", FileSystem::Wait::kNo).status(),
        system->open("/a", FileSystem::Access::kReadWrite).status()}) {
    EXPECT_EQ(status.code(), ErrorCode::kIo) << status.text();
  }
  EXPECT_EQ(text_of(*system, "/a"), "text");
  EXPECT_TRUE(system->create_folder("/d").ok());
  EXPECT_EQ(system->list("/").value().size(), 2u);
  EXPECT_TRUE(system->lock("/a", FileSystem::Wait::kNo).ok());
}

TEST(MemoryCounts, CountCallsAndBytes) {
  const auto system = MemoryFileSystem::make();
  make_durable(*system, "/a", "12345");
  EXPECT_EQ(text_of(*system, "/a"), "12345");
  (void)system->open("/missing", FileSystem::Access::kRead);
  const FileCounts counts = system->counts();
  EXPECT_EQ(counts.creates, 1);
  EXPECT_EQ(counts.writes, 1);
  EXPECT_EQ(counts.bytes_written, Bytes(5));
  EXPECT_EQ(counts.bytes_read, Bytes(5));
  EXPECT_EQ(counts.syncs, 1);
  EXPECT_EQ(counts.folder_syncs, 1);
  EXPECT_EQ(counts.opens, 1);
}

} // namespace
} // namespace holdfast
