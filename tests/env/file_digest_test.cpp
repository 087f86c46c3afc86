// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/file_digest.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "file_bytes.h"
#include "holdfast/env/faulty_file_system.h"
#include "holdfast/env/manual_clock.h"
#include "holdfast/env/mapped_file.h"
#include "holdfast/env/memory_file_system.h"
#include "holdfast/env/posix_file_system.h"
#include "temp_folder.h"

namespace holdfast {
namespace {

using Access = FileSystem::Access;

class FileDigestTest : public testing::Test {
 protected:
  FileDigests table() const {
    return FileDigests(faulty_, "/digests", clock_);
  }
  /// Bytes read while `digests` says what `path` has.
  int64_t reads(FileDigests& digests, const std::string& path) const {
    const Bytes before = memory_->counts().bytes_read;
    const auto digest = digests.digest(path);
    EXPECT_TRUE(digest.ok()) << digest.status().text();
    const int64_t read = (memory_->counts().bytes_read - before).get();
    EXPECT_EQ(digest.value(), sha256(text_of(*memory_, path)));
    return read;
  }

  std::shared_ptr<MemoryFileSystem> memory_ = MemoryFileSystem::make();
  std::shared_ptr<FaultyFileSystem> faulty_ =
      std::make_shared<FaultyFileSystem>(memory_);
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
};

TEST_F(FileDigestTest, IsThatOfTheBytesWhateverTheLength) {
  constexpr size_t kMiB = 1 << 20;
  for (const size_t size : {size_t{0}, size_t{1}, kMiB - 1, kMiB, kMiB + 1}) {
    std::string text(size, 'x');
    for (size_t i = 0; i < size; i += 977) {
      text[i] = static_cast<char>(i);
    }
    const auto file =
        make_file(*memory_, numbered("/", static_cast<int64_t>(size)), text);
    std::vector<int64_t> told;
    const auto digest =
        file_digest(*file, {.progress = [&](Bytes done, Bytes total) {
          EXPECT_EQ(total.get(), static_cast<int64_t>(size));
          told.push_back(done.get());
        }});
    ASSERT_TRUE(digest.ok());
    EXPECT_EQ(digest.value(), sha256(text));
    EXPECT_EQ(told.size(), (size + kMiB - 1) / kMiB);
    EXPECT_EQ(told.empty() ? 0 : told.back(), static_cast<int64_t>(size));
  }
}

TEST_F(FileDigestTest, StopsWhenItIsInterrupted) {
  const auto file = make_file(*memory_, "/a", std::string(5 << 20, 'x'));
  std::atomic<bool> interrupted{false};
  int pieces = 0;
  const auto digest = file_digest(
      *file,
      {.progress =
           [&](Bytes, Bytes) {
             ++pieces;
             interrupted = true;
           },
       .interrupted = &interrupted});
  EXPECT_EQ(digest.status().code(), ErrorCode::kStale);
  EXPECT_EQ(pieces, 1);
}

TEST_F(FileDigestTest, RefusesAFileThatChangesWhileItIsRead) {
  const auto file = make_file(*memory_, "/a", std::string(2 << 20, 'x'));
  const auto digest = file_digest(*file, {.progress = [&](Bytes, Bytes) {
    file->write(Bytes(0), bytes_of("y")).check();
  }});
  EXPECT_EQ(digest.status().code(), ErrorCode::kIo);
}

TEST_F(FileDigestTest, SaysWhichFileCannotBeRead) {
  auto digests = table();
  EXPECT_EQ(digests.digest("/none").status().code(), ErrorCode::kNotFound);
  make_file(*memory_, "/a", "text");
  faulty_->fail({.only = FileCall::kRead});
  const Status status = digests.digest("/a").status();
  EXPECT_EQ(status.code(), ErrorCode::kIo);
  EXPECT_NE(status.text().find("/a"), std::string::npos);
}

TEST_F(FileDigestTest, IsRememberedUntilTheFileChanges) {
  const auto file = make_file(*memory_, "/a", std::string(1000, 'x'));
  auto first = table();
  EXPECT_GE(reads(first, "/a"), 1000);
  EXPECT_EQ(reads(first, "/a"), 0);
  EXPECT_TRUE(first.saved().ok()) << first.saved().text();
  auto second = table();
  EXPECT_LT(reads(second, "/a"), 1000) << "another process reads the table";
  ASSERT_TRUE(file->write(Bytes(500), bytes_of("y")).ok());
  EXPECT_GE(reads(second, "/a"), 1000) << "same size, other time";
  make_file(*memory_, "/b", std::string(1000, 'z'));
  ASSERT_TRUE(memory_->rename("/b", "/a").ok());
  EXPECT_GE(reads(second, "/a"), 1000) << "another file of that name";
}

TEST_F(FileDigestTest, SurvivesPowerLossOnceSaved) {
  make_durable(*memory_, "/a", std::string(1000, 'x'));
  auto first = table();
  reads(first, "/a");
  ASSERT_TRUE(first.saved().ok());
  const auto left = memory_->power_loss({});
  FileDigests second(left, "/digests", clock_);
  EXPECT_EQ(second.digest("/a").value(), sha256(std::string(1000, 'x')));
  EXPECT_LT(left->counts().bytes_read, Bytes(1000)) << "the table alone";
}

TEST_F(FileDigestTest, IsReadAnewWhereAnyByteOfTheTableIsDamaged) {
  make_file(*memory_, "/a", std::string(1000, 'x'));
  auto first = table();
  reads(first, "/a");
  const std::string good = text_of(*memory_, "/digests");
  const auto file = memory_->open("/digests", Access::kReadWrite).value();
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    ASSERT_TRUE(file->write(Bytes(0), bytes_of(bad)).ok());
    const auto aside = memory_->power_loss({PowerLoss::Keep::kEverything});
    FileDigests second(aside, "/digests", clock_);
    ASSERT_EQ(second.digest("/a").value(), sha256(std::string(1000, 'x')));
    ASSERT_GE(aside->counts().bytes_read.get(), 1000) << "byte " << i;
    ASSERT_EQ(text_of(*aside, "/digests"), good) << "and made good again";
  }
  for (size_t size = 0; size < good.size(); ++size) {
    ASSERT_TRUE(file->write(Bytes(0), bytes_of(good)).ok());
    ASSERT_TRUE(file->truncate(Bytes(static_cast<int64_t>(size))).ok());
    auto second = table();
    const Bytes before = memory_->counts().bytes_read;
    faulty_->fail({.once = false, .only = FileCall::kCreate}); // no new table
    ASSERT_TRUE(second.digest("/a").ok());
    ASSERT_GE((memory_->counts().bytes_read - before).get(), 1000) << size;
    faulty_->heal();
  }
}

TEST_F(FileDigestTest, IsRightWhereTheTableCannotBeWritten) {
  make_file(*memory_, "/a", std::string(1000, 'x'));
  for (int64_t k = 0; k < 14; ++k) {
    auto digests = table();
    (void)memory_->remove("/digests");
    faulty_->fail({.after = k});
    const auto digest = digests.digest("/a");
    faulty_->heal();
    if (digest.ok()) {
      EXPECT_EQ(digest.value(), sha256(std::string(1000, 'x'))) << k;
    }
    auto next = table();
    reads(next, "/a");
    EXPECT_TRUE(next.saved().ok()) << next.saved().text();
  }
}

TEST_F(FileDigestTest, IsNotSavedWhileAnotherProcessSaves) {
  make_file(*memory_, "/a", "text");
  const auto lock = memory_->lock("/digests.lock", FileSystem::Wait::kNo);
  auto digests = table();
  reads(digests, "/a");
  EXPECT_EQ(digests.saved().code(), ErrorCode::kOutOfBudget);
}

TEST_F(FileDigestTest, KeepsWhatOtherProcessesFound) {
  make_file(*memory_, "/a", std::string(1000, 'a'));
  make_file(*memory_, "/b", std::string(1000, 'b'));
  auto first = table();
  auto second = table();
  make_file(*memory_, "/c", "c");
  reads(first, "/c"); // both have looked at the table by now
  reads(second, "/c");
  reads(first, "/a");
  reads(second, "/b");
  auto third = table();
  reads(third, "/c");
  EXPECT_EQ(reads(third, "/a"), 0);
  EXPECT_EQ(reads(third, "/b"), 0);
}

TEST_F(FileDigestTest, ForgetsTheOldestOfTooMany) {
  auto digests = table();
  for (int i = 0; i < 4100; ++i) {
    make_file(*memory_, numbered("/f", i), "x");
  }
  faulty_->fail({.once = false, .only = FileCall::kLock}); // saves are slow
  for (int i = 0; i < 4099; ++i) {
    ASSERT_TRUE(digests.digest(numbered("/f", i)).ok());
  }
  faulty_->heal();
  reads(digests, "/f4099");
  ASSERT_TRUE(digests.saved().ok());
  const std::string text = text_of(*memory_, "/digests");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4096 + 2);
  EXPECT_EQ(reads(digests, "/f4099"), 0);
  EXPECT_EQ(reads(digests, "/f4"), 0);
  EXPECT_GT(reads(digests, "/f0"), 0);
}

TEST(FileDigestsOnPosix, AreNotRememberedOfAFileThatWasJustWritten) {
  const TempFolder folder;
  const auto system = posix_file_system();
  make_file(*system, folder / "a", "12345");
  const int64_t changed = system->facts(folder / "a").value().changed_ns;
  const auto clock = std::make_shared<ManualClock>();
  const auto remembered = [&](int64_t wall) {
    clock->set_wall_ns(wall);
    FileDigests digests(system, folder / "digests", clock);
    EXPECT_EQ(digests.digest(folder / "a").value(), sha256("12345"));
    const bool there = system->facts(folder / "digests").ok();
    (void)system->remove(folder / "digests");
    return there;
  };
  EXPECT_FALSE(remembered(changed));
  EXPECT_FALSE(remembered(changed + 1'999'999'999));
  EXPECT_TRUE(remembered(changed + 2'000'000'000));
  EXPECT_FALSE(remembered(changed - 5'000'000'000)) << "the clock went back";
}

TEST(FileDigestsOnPosix, SeeAChangeThatKeepsSizeAndTime) {
  const TempFolder folder;
  const auto system = posix_file_system();
  const std::string path = folder / "a";
  make_file(*system, path, "12345");
  const auto clock = std::make_shared<ManualClock>();
  clock->set_wall_ns(system->facts(path).value().changed_ns + 3'000'000'000);
  FileDigests digests(system, folder / "digests", clock);
  ASSERT_EQ(digests.digest(path).value(), sha256("12345"));
  ASSERT_TRUE(digests.saved().ok());
  const FileFacts before = system->facts(path).value();
  const auto file = system->open(path, Access::kReadWrite).value();
  ASSERT_TRUE(file->write(Bytes(0), bytes_of("54321")).ok());
  const timespec times[2] = {
      {0, UTIME_NOW},
      {before.modified_ns / 1'000'000'000, before.modified_ns % 1'000'000'000}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  ASSERT_EQ(system->facts(path).value().modified_ns, before.modified_ns);
  EXPECT_EQ(digests.digest(path).value(), sha256("54321"));
}

// A model is loaded first and hashed afterwards: state may not be filed under
// the weights of a file that came in between.
TEST(FileDigestsOnPosix, RefuseAFileThatTookThePlaceOfTheOneThatWasOpened) {
  const TempFolder folder;
  const auto system = posix_file_system();
  const std::string path = folder / "a";
  make_file(*system, path, "12345");
  const FileIdentity opened = MappedFile::open(path).value().identity();
  FileDigests digests(
      system, folder / "digests", std::make_shared<ManualClock>());
  EXPECT_EQ(digests.digest_of(opened, path).value(), sha256("12345"));
  const auto refused = [&] {
    const Status status = digests.digest_of(opened, path).status();
    EXPECT_NE(status.text().find(path), std::string::npos);
    return status.code() == ErrorCode::kStale;
  };
  make_file(*system, folder / "b", "54321");
  ASSERT_TRUE(system->rename(folder / "b", path).ok());
  EXPECT_TRUE(refused()) << "another file";
  ASSERT_TRUE(digests.digest(path).ok());
  EXPECT_TRUE(refused()) << "and where that one's digest is remembered";
  ASSERT_TRUE(system->remove(path).ok());
  EXPECT_EQ(
      digests.digest_of(opened, path).status().code(), ErrorCode::kNotFound);
}

TEST(FileDigestsOnPosix, RefuseAFileThatChangesWhileItIsHashed) {
  const TempFolder folder;
  const auto system = posix_file_system();
  const std::string path = folder / "a";
  const auto file = make_file(*system, path, "12345");
  const FileIdentity opened = MappedFile::open(path).value().identity();
  FileDigests digests(
      system, folder / "digests", std::make_shared<ManualClock>());
  // Its time is set back: what shows is that it was changed.
  const DigestWork work{.progress = [&](Bytes, Bytes) {
    ASSERT_TRUE(file->write(Bytes(0), bytes_of("54321")).ok());
    const timespec times[2] = {
        {0, UTIME_NOW},
        {opened.modified_ns / 1'000'000'000,
         opened.modified_ns % 1'000'000'000}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }};
  EXPECT_EQ(
      digests.digest_of(opened, path, work).status().code(), ErrorCode::kStale);
  EXPECT_FALSE(system->facts(folder / "digests").ok());
}

} // namespace
} // namespace holdfast
