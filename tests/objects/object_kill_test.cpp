// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A process whose writes are debounced is killed at a moment of chance. What a
// flush acknowledged is there; of the rest no more is lost than what was put in
// the last maximum delay and one store, though the debounce is armed again and
// again.

#include <atomic>
#include <chrono>
#include <new>
#include <random>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/env/posix_file_system.h"
#include "tests/env/temp_folder.h"
#include "tests/objects/object_rig.h"

namespace holdfast::test {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

constexpr milliseconds kDebounce(200); // the puts come faster
constexpr milliseconds kMaxDelay(500);
/// For one store, and for a machine that has other work.
constexpr milliseconds kStore(2500);
constexpr int kKeys = 2;

int64_t now_ms() {
  return std::chrono::duration_cast<milliseconds>(
             Steady::now().time_since_epoch())
      .count();
}

/// What a process says that is going to be killed.
struct Said {
  std::atomic<int> put[kKeys]; // versions
  std::atomic<int> durable[kKeys]; // versions that a flush acknowledged
  std::atomic<int64_t> put_ms[kKeys][4096]; // [key][version]
};

class SharedSaid {
 public:
  SharedSaid() {
    void* memory = ::mmap(
        nullptr,
        sizeof(Said),
        PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS,
        -1,
        0);
    if (memory == MAP_FAILED) {
      throw std::runtime_error("cannot map shared memory");
    }
    said_ = new (memory) Said{};
  }
  ~SharedSaid() {
    ::munmap(said_, sizeof(Said));
  }
  SharedSaid(const SharedSaid&) = delete;
  SharedSaid& operator=(const SharedSaid&) = delete;
  Said* operator->() const {
    return said_;
  }

 private:
  Said* said_;
};

class DebouncedKill : public testing::Test {
 protected:
  ObjectCacheOptions options() const {
    return {
        .ram = Bytes(1 << 20),
        .disk = DiskTier::open({.folder = folder_ / "state",
                                .files = posix_file_system(),
                                .clock = system_clock()})
                    .value(),
        .debounce = kDebounce,
        .max_delay = kMaxDelay};
  }
  /// Puts versions of its keys every few milliseconds, and flushes once: never
  /// ends.
  void live(milliseconds flush_after) {
    ObjectCache cache(options());
    const auto flush_at = Steady::now() + flush_after;
    bool flushed = false;
    for (int version = said_->put[0] + 1; version < 4096; ++version) {
      for (int key = 0; key < kKeys; ++key) {
        said_->put_ms[key][version] = now_ms();
        put(cache, key, value_of(key, version, 3000));
        said_->put[key] = version;
      }
      if (!flushed && Steady::now() > flush_at && cache.flush().durable) {
        flushed = true;
        for (int key = 0; key < kKeys; ++key) {
          said_->durable[key] = version;
        }
      }
      std::this_thread::sleep_for(milliseconds(10));
    }
  }
  /// The version that the disk has.
  int version_of(ObjectCache& cache, int key) const {
    const std::string got = get(cache, key);
    for (int version = said_->put[key] + 1; version > 0; --version) {
      if (got == value_of(key, version, 3000)) {
        return version;
      }
    }
    EXPECT_EQ(got, "") << "what nobody put";
    return 0;
  }

  const TempFolder folder_;
  const SharedSaid said_;
};

TEST_F(DebouncedKill, LosesNothingAcknowledgedAndNoMoreThanTheMaximumDelay) {
  std::mt19937 random(9);
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    const milliseconds flush_after(random() % 1000);
    const milliseconds kill_after(3500 + random() % 1000);
    const pid_t pid = ::fork();
    if (pid == 0) {
      live(flush_after);
      ::_exit(1);
    }
    std::this_thread::sleep_for(kill_after);
    const int64_t killed = now_ms();
    ::kill(pid, SIGKILL);
    int status = 0;
    ::waitpid(pid, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself";
    ObjectCache cache(options());
    for (int key = 0; key < kKeys; ++key) {
      const int found = version_of(cache, key);
      EXPECT_GT(said_->durable[key], 0);
      EXPECT_GE(found, said_->durable[key]);
      // All that is lost was put after that moment.
      if (found < said_->put[key]) {
        EXPECT_GT(
            said_->put_ms[key][found + 1].load(),
            killed - (kMaxDelay + kStore).count());
      }
    }
  }
}

} // namespace
} // namespace holdfast::test
