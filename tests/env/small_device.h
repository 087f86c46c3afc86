// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A file system of 8 MiB for a test, seen by one process alone. Where none may
// be mounted the test is skipped with NOT RUN, which `./dev check` counts as
// failed.

#pragma once

#include <cstdio>
#include <exception>
#include <functional>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::test {

/// What a child found.
inline constexpr int kRight = 0;
inline constexpr int kWrong = 1;
inline constexpr int kNoMount = 2;

/// Runs `work` in a process of its own with a file system of 8 MiB on `folder`,
/// which nobody else sees.
inline int
on_small_device(const std::string& folder, const std::function<void()>& work) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    const int alone =
        ::geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
    const uid_t user = ::geteuid();
    if (::unshare(alone) != 0) {
      ::_exit(kNoMount);
    }
    if (user != 0) { // who creates files must be somebody there
      const int map = ::open("/proc/self/uid_map", O_WRONLY);
      const std::string line = "0 " + std::to_string(user) + " 1";
      if (::write(map, line.data(), line.size()) < 0) {
        ::_exit(kNoMount);
      }
    }
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=8m") != 0) {
      ::_exit(kNoMount);
    }
    try {
      work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
      ::_exit(kWrong);
    }
    ::_exit(testing::Test::HasFailure() ? kWrong : kRight);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kWrong;
}

#define HOLDFAST_ON_SMALL_DEVICE(folder, work)                             \
  do {                                                                     \
    const int found = on_small_device(folder, work);                       \
    if (found == kNoMount) {                                               \
      GTEST_SKIP() << "NOT RUN: this process may not mount a file system " \
                      "(neither as root nor in a user's name space); "     \
                      "DiskTierBudget.AFullDevice... covers it in memory"; \
    }                                                                      \
    EXPECT_EQ(found, kRight);                                              \
  } while (false)

} // namespace holdfast::test
