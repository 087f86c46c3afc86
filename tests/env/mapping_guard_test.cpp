// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Files that are cut short under a mapping, in processes of their own.

#include "holdfast/env/mapping_guard.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/env/posix_file_system.h"
#include "tests/code_of.h"
#include "tests/env/temp_folder.h"

namespace holdfast {
namespace {

constexpr int64_t kPage = 4096;
constexpr int64_t kPages = 16;

/// How a process ends that does this: its exit code, or minus the signal.
int end_of(const std::function<bool()>& work) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    // No report of a crash that is meant.
    ::signal(SIGBUS, SIG_DFL);
    ::_exit(work() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

class MappingGuardTest : public testing::Test {
 protected:
  MappingGuardTest() {
    const auto file = posix_file_system()->create(path_).value();
    const std::vector<std::byte> ones(kPage * kPages, std::byte{1});
    file->write(Bytes(0), ones).check();
  }

  MappedBytes map() const {
    return posix_file_system()
        ->open(path_, FileSystem::Access::kRead)
        .value()
        ->map(Bytes(0), Bytes(kPage * kPages))
        .value();
  }
  /// What anybody may do who may write to the file.
  void cut_to(int64_t pages) const {
    ASSERT_EQ(::truncate(path_.c_str(), pages * kPage), 0);
  }
  static int sum(const MappedBytes& bytes, int64_t first, int64_t end) {
    int result = 0;
    for (int64_t at = first * kPage; at < end * kPage; ++at) {
      result += static_cast<int>(bytes.get()[at]);
    }
    return result;
  }

  const TempFolder folder_;
  const std::string path_ = folder_ / "file";
};

TEST_F(MappingGuardTest, WithoutAGuardTheReadEndsTheProcess) {
  EXPECT_EQ(
      end_of([&] {
        const MappedBytes bytes = map();
        cut_to(4);
        return sum(bytes, 0, kPages) > 0;
      }),
      -SIGBUS);
}

TEST_F(MappingGuardTest, WhatWasCutReadsAsZerosAndTheMappingSaysSo) {
  EXPECT_EQ(
      end_of([&] {
        const MappingGuard guard;
        const MappedBytes bytes = map();
        if (!mappings_are_whole() || !mapping_is_whole(bytes.get())) {
          return false;
        }
        cut_to(4);
        return sum(bytes, 0, kPages) == 4 * kPage &&
            !mapping_is_whole(bytes.get()) && !mappings_are_whole();
      }),
      0);
}

TEST_F(MappingGuardTest, SaysSoThoughNobodyReadWhatWasCut) {
  EXPECT_EQ(
      end_of([&] {
        const MappingGuard guard;
        const MappedBytes bytes = map();
        cut_to(4);
        // As it does where the file got its size back: the bytes are others.
        const bool seen = sum(bytes, 0, 4) == 4 * kPage &&
            !mapping_is_whole(bytes.get() + kPage);
        cut_to(kPages);
        return seen && !mapping_is_whole(bytes.get()) && !mappings_are_whole();
      }),
      0);
}

TEST_F(MappingGuardTest, AnotherMappingIsWholeThoughOneWasNot) {
  EXPECT_EQ(
      end_of([&] {
        const MappingGuard guard;
        MappedBytes bytes = map();
        cut_to(4);
        const bool seen = !mappings_are_whole();
        bytes.reset();
        if (!seen || !mappings_are_whole()) {
          return false; // nobody has it any more
        }
        cut_to(kPages);
        bytes = map(); // in the same place, as like as not
        return mapping_is_whole(bytes.get()) &&
            sum(bytes, 0, kPages) == 4 * kPage;
      }),
      0);
}

TEST_F(MappingGuardTest, FaultsOfOthersDoWhatTheyDidBefore) {
  EXPECT_EQ(
      end_of([&] {
        const MappingGuard guard;
        const MappedBytes watched = map();
        const int descriptor = ::open(path_.c_str(), O_RDONLY);
        const auto* other = static_cast<const volatile char*>(
            ::mmap(nullptr, kPage, PROT_READ, MAP_SHARED, descriptor, 0));
        cut_to(0);
        return other[0] == 1;
      }),
      -SIGBUS);
}

TEST_F(MappingGuardTest, AnyNumberOfThreadsMayMeetTheCut) {
  EXPECT_EQ(
      end_of([&] {
        const MappingGuard guard;
        const MappedBytes bytes = map();
        std::atomic<bool> stop{false};
        std::atomic<int> wrong{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) {
          threads.emplace_back([&] {
            while (!stop.load()) {
              const int got = sum(bytes, 0, kPages);
              // What was read while all was well is right.
              if (mapping_is_whole(bytes.get()) && got != kPage * kPages) {
                ++wrong;
              }
              // Others come and go.
              std::ignore = posix_file_system()
                                ->open(path_, FileSystem::Access::kRead)
                                .value()
                                ->map(Bytes(0), Bytes(kPage));
            }
          });
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        cut_to(kPages / 2);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        stop = true;
        for (std::thread& thread : threads) {
          thread.join();
        }
        return wrong == 0 && sum(bytes, 0, kPages) == kPage * kPages / 2;
      }),
      0);
}

TEST(MappingGuard, IsOneAtATime) {
  const MappingGuard guard;
  EXPECT_EQ(code_of([] { MappingGuard second; }), ErrorCode::kInvalidArgument);
}

} // namespace
} // namespace holdfast
