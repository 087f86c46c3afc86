// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Mappings and locks, on every file system.

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "each_file_system.h"

namespace holdfast {
namespace {

using Wait = FileSystem::Wait;

class Mappings : public EachFileSystem {};
class Locks : public EachFileSystem {};

TEST_P(Mappings, KeepBytesThatOutliveTheNameAndTheFile) {
  std::string text(20'000, '\0');
  for (size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<char>('a' + i % 26);
  }
  auto file = make_file(*system_, at("a"), text);
  const auto shown = [](const MappedBytes& bytes, size_t size) {
    return std::string(reinterpret_cast<const char*>(bytes.get()), size);
  };
  const MappedBytes all = file->map(Bytes(0), Bytes(20'000)).value();
  const MappedBytes end = file->map(Bytes(16'384), Bytes(3616)).value();
  const MappedBytes none = file->map(Bytes(4096), Bytes(0)).value();
  EXPECT_NE(none, nullptr);
  file.reset();
  make_file(*system_, at("b"), "other");
  ASSERT_TRUE(system_->rename(at("b"), at("a")).ok());
  ASSERT_TRUE(system_->remove(at("a")).ok());
  EXPECT_EQ(shown(all, text.size()), text);
  EXPECT_EQ(shown(end, 3616), text.substr(16'384));
}

TEST_P(Mappings, ShowOnlyWhatLiesInTheFile) {
  const auto file = make_file(*system_, at("a"), std::string(5000, 'x'));
  EXPECT_EQ(
      code(file->map(Bytes(0), Bytes(5001)).status(), at("a")),
      ErrorCode::kCorrupt);
  EXPECT_EQ(
      code(file->map(Bytes(8192), Bytes(1)).status(), at("a")),
      ErrorCode::kCorrupt);
  EXPECT_EQ(
      code(file->map(Bytes(100), Bytes(1)).status(), at("a")),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      code(file->map(Bytes(-4096), Bytes(1)).status(), at("a")),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      code(file->map(Bytes(0), Bytes(-1)).status(), at("a")),
      ErrorCode::kInvalidArgument);
}

TEST_P(Mappings, ShowPunchedBytesAsZeros) {
  const auto file = make_file(*system_, at("a"), std::string(12'288, 'x'));
  const MappedBytes bytes = file->map(Bytes(0), Bytes(12'288)).value();
  ASSERT_TRUE(file->punch(Bytes(4096), Bytes(4096)).ok());
  EXPECT_EQ(bytes.get()[4095], std::byte{'x'});
  EXPECT_EQ(bytes.get()[4096], std::byte{0});
  EXPECT_EQ(bytes.get()[8191], std::byte{0});
  EXPECT_EQ(bytes.get()[8192], std::byte{'x'});
}

TEST_P(Locks, HaveOneHolderAtATime) {
  auto first = system_->lock(at("lock"), Wait::kNo);
  ASSERT_TRUE(first.ok()) << first.status().text();
  EXPECT_EQ(system_->facts(at("lock")).value().mode & 0777u, 0600u);
  EXPECT_EQ(
      code(system_->lock(at("lock"), Wait::kNo).status(), at("lock")),
      ErrorCode::kOutOfBudget);
  EXPECT_TRUE(system_->lock(at("other"), Wait::kNo).ok());
  EXPECT_EQ(
      code(system_->lock(root_, Wait::kNo).status(), root_),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      code(system_->lock(at("x/y"), Wait::kNo).status(), at("x/y")),
      ErrorCode::kNotFound);
  first = Status(ErrorCode::kStale, "released");
  EXPECT_TRUE(system_->lock(at("lock"), Wait::kNo).ok());
}

TEST_P(Locks, GoToWhoWaitsForThem) {
  // Atomic: what orders the holders is the system's lock, which TSAN does not
  // see.
  std::atomic<int> inside{0};
  std::atomic<int> passes{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const auto lock = system_->lock(at("lock"), Wait::kYes);
        EXPECT_TRUE(lock.ok());
        EXPECT_EQ(++inside, 1);
        ++passes;
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(passes, 200);
}

TEST_P(Locks, HoldTheFileThatHasTheNameAfterAWait) {
  auto first = system_->lock(at("lock"), Wait::kNo);
  ASSERT_TRUE(first.ok());
  std::thread waiter([&] {
    const auto second = system_->lock(at("lock"), Wait::kYes);
    ASSERT_TRUE(second.ok());
    EXPECT_FALSE(system_->lock(at("lock"), Wait::kNo).ok())
        << "the name leads to a file that nobody locks";
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_TRUE(system_->remove(at("lock")).ok());
  first = Status(ErrorCode::kStale, "released");
  waiter.join();
}

HOLDFAST_EACH_FILE_SYSTEM(Mappings);
HOLDFAST_EACH_FILE_SYSTEM(Locks);

} // namespace
} // namespace holdfast
