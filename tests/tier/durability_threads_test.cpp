// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Many threads on one queue; fit for the thread sanitizer.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "holdfast/env/clock.h"
#include "holdfast/tier/continuations.h"
#include "holdfast/tier/durability.h"
#include "tests/tier/checkpoint_fakes.h"
#include "tests/tier/record_fakes.h"

namespace holdfast {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using tier_test::FakeDisk;
using tier_test::FakeRam;
using tier_test::record_key;

constexpr int kThreads = 4;

void on_threads(const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back(work, t);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST(SpillQueueThreads, KeepTheOrderOfEachKeyWithAnyNumberOfWriters) {
  const auto clock = system_clock();
  std::mutex mutex;
  std::map<std::string, std::vector<int>> ran;
  std::map<std::string, int> running;
  int64_t wrong = 0;
  {
    SpillQueue queue({.clock = clock, .writers = kThreads});
    on_threads([&](int t) {
      for (int i = 0; i < 500; ++i) {
        SpillJob job;
        job.key = std::to_string(t) + ":" + std::to_string(i % 3);
        job.kind = i % 2 == 0 ? JobClass::kSpill : JobClass::kCheckpoint;
        job.bytes = Bytes(1000);
        job.work = [&, key = job.key, i] {
          {
            const std::lock_guard lock(mutex);
            wrong += running[key]++ == 0 ? 0 : 1;
            ran[key].push_back(i);
          }
          std::this_thread::yield();
          const std::lock_guard lock(mutex);
          --running[key];
          return Status();
        };
        ASSERT_EQ(
            queue.submit_waiting(std::move(job), {}), Admission::kAdmitted);
      }
    });
    EXPECT_TRUE(queue.drain());
    EXPECT_EQ(queue.stats().done, kThreads * 500);
    EXPECT_EQ(queue.keys(), 0u);
  }
  EXPECT_EQ(wrong, 0);
  for (const auto& [key, order] : ran) {
    EXPECT_TRUE(std::ranges::is_sorted(order)) << key;
  }
}

TEST(SpillQueueThreads, NeverHoldMoreThanTheirShareAndEveryEndIsTold) {
  const auto clock = system_clock();
  std::atomic<int64_t> admitted = 0;
  std::atomic<int64_t> ended = 0;
  std::atomic<int64_t> refused = 0;
  SpillStats stats;
  {
    SpillQueue queue(
        {.clock = clock, .writers = 2, .spill_bytes = Bytes(5000)});
    on_threads([&](int t) {
      for (int i = 0; i < 1000; ++i) {
        SpillJob job;
        job.key = std::to_string(i % 7);
        job.bytes = Bytes(1000);
        job.work = [content = std::make_shared<int>(i)] { return Status(); };
        job.ended = [&](const JobEnd&) { ++ended; };
        const Admission admission = t % 2 == 0
            ? queue.submit(std::move(job))
            : queue.submit_waiting(
                  std::move(job),
                  {.until = clock->now() + milliseconds(1), .stop = nullptr});
        (admission == Admission::kAdmitted ? admitted : refused) += 1;
        if (i % 97 == 0) {
          queue.cancel_where([&](const SpillJob& of) { return of.key == "3"; });
        }
      }
    });
    EXPECT_TRUE(queue.shutdown());
    stats = queue.stats();
  }
  EXPECT_EQ(admitted + refused, kThreads * 1000);
  EXPECT_EQ(ended, admitted);
  EXPECT_LE(stats.peak_bytes, Bytes(5000));
  EXPECT_EQ(stats.pending, 0);
  EXPECT_EQ(stats.done + stats.cancelled + stats.dropped(), kThreads * 1000);
}

TEST(DurabilityThreads, EverythingPutBeforeAFlushIsOnDiskAfterIt) {
  const auto clock = system_clock();
  FakeRam ram;
  FakeDisk disk;
  SpillQueue queue({.clock = clock, .writers = 2, .spill_bytes = Bytes(500)});
  Durability durability(
      queue,
      ram,
      disk,
      {.clock = clock, .debounce = milliseconds(1), .stored = {}});
  on_threads([&](int t) {
    for (int i = 0; i < 60; ++i) {
      const RecordKey mine = record_key({t, i % 5});
      ram.set(mine, i);
      durability.put(mine);
      if (i % 6 == t) {
        const FlushReport report = durability.flush();
        // Others put meanwhile; mine were all put before.
        EXPECT_EQ(report.missing, 0);
        EXPECT_EQ(report.pending, report.late);
        EXPECT_EQ(disk.number(mine), i);
      }
    }
  });
  EXPECT_TRUE(durability.flush({.until = {}, .last = true}).durable);
  for (int t = 0; t < kThreads; ++t) {
    for (int k = 0; k < 5; ++k) {
      EXPECT_EQ(disk.number(record_key({t, k})), 55 + k);
    }
  }
}

TEST(DurabilityThreads, WriteInTheBackgroundWithoutAFlush) {
  const auto clock = system_clock();
  FakeRam ram;
  FakeDisk disk;
  std::atomic<int64_t> stored = 0;
  SpillQueue queue({.clock = clock});
  disk.failures = 3;
  Durability durability(
      queue,
      ram,
      disk,
      {.clock = clock,
       .retry = milliseconds(2),
       .stored = [&](const RecordKey&) { ++stored; }});
  for (int32_t i = 0; i < 50; ++i) {
    ram.set(record_key({i}), i);
    durability.put(record_key({i}));
  }
  const auto limit = clock->now() + seconds(60);
  while (durability.stats().pending_records > 0 && clock->now() < limit) {
    std::this_thread::yield();
  }
  EXPECT_EQ(durability.stats().pending_records, 0);
  EXPECT_EQ(durability.stats().failed, 3);
}

/// A store that does not return until it is let go.
struct Gate {
  void pass() {
    std::unique_lock lock(mutex);
    ++waiting;
    changed.notify_all();
    changed.wait(lock, [&] { return open; });
  }
  void await_one() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return waiting > 0; });
  }
  void let_go() {
    const std::lock_guard lock(mutex);
    open = true;
    changed.notify_all();
  }
  std::mutex mutex;
  std::condition_variable changed;
  int waiting = 0;
  bool open = false;
};

TEST(DurabilityThreads, AFlushThatJoinsARunningOneCoversItsOwnRecords) {
  const auto clock = system_clock();
  FakeRam ram;
  FakeDisk disk;
  Gate gate;
  const RecordKey first = record_key({1});
  const RecordKey second = record_key({2});
  disk.during_store = [&](const RecordKey& key) {
    if (key == first) {
      gate.pass();
    }
  };
  SpillQueue queue({.clock = clock, .writers = 2});
  Durability durability(
      queue,
      ram,
      disk,
      {.clock = clock, .debounce = seconds(60), .stored = {}});
  ram.set(first, 1);
  durability.put(first);
  FlushReport one;
  FlushReport two;
  FlushReport shared;
  std::thread running([&] { one = durability.flush(); });
  gate.await_one();
  std::thread same([&] { shared = durability.flush(); });
  ram.set(second, 2);
  durability.put(second);
  std::thread joining([&] { two = durability.flush(); });
  const FlushReport late = durability.flush({.until = clock->now()});
  EXPECT_FALSE(late.durable); // its own deadline
  EXPECT_EQ(disk.number(second), -1);
  gate.let_go();
  running.join();
  same.join();
  joining.join();
  EXPECT_EQ(one.flushed, 1);
  EXPECT_TRUE(two.durable);
  EXPECT_EQ(two.pending, 0);
  EXPECT_EQ(disk.number(first), 1);
  EXPECT_EQ(disk.number(second), 2);
}

TEST(DurabilityThreads, AStuckStoreEndsAFlushAtItsDeadline) {
  const auto clock = system_clock();
  FakeRam ram;
  FakeDisk disk;
  Gate gate;
  disk.during_store = [&](const RecordKey&) { gate.pass(); };
  SpillQueue queue({.clock = clock, .spill_bytes = Bytes(100)});
  Durability durability(queue, ram, disk, {.clock = clock, .stored = {}});
  for (int32_t i = 0; i < 3; ++i) {
    ram.set(record_key({i}), i);
    durability.put(record_key({i}));
  }
  gate.await_one(); // another waits for room in the background
  const FlushReport report = durability.flush(
      {.until = clock->now() + milliseconds(20), .last = true});
  EXPECT_FALSE(report.durable);
  EXPECT_EQ(report.pending, 3);
  EXPECT_EQ(report.pending_writes, 1); // the one that is stuck
  gate.let_go();
  queue.drain();
  EXPECT_EQ(disk.stores(), 1);
  EXPECT_EQ(durability.stats().pending_records, 2);
}

TEST(ContinuationThreads, AttemptsOfOneKeyNeverLeaveAnOlderOnesCheckpoint) {
  const auto clock = system_clock();
  tier_test::FakeCheckpoints store;
  SpillQueue queue({.clock = clock, .writers = kThreads});
  Continuations continuations(queue, store, clock);
  std::atomic<uint64_t> attempts = 0;
  on_threads([&](int t) {
    for (int i = 0; i < 200; ++i) {
      Continuation attempt =
          continuations.begin(tier_test::numbered(i % 3)).value();
      ++attempts;
      attempt.checkpoint(tier_test::checkpoint(2 * i + 1));
      attempt.checkpoint(tier_test::checkpoint(2 * i + 2));
      if ((i + t) % 2 == 0) {
        attempt.complete();
      }
    }
  });
  EXPECT_TRUE(continuations.flush().durable);
  EXPECT_EQ(continuations.stats().keys, 0);
  EXPECT_EQ(continuations.stats().dropped, 0);
  EXPECT_EQ(store.claims(), 0);
  // Each key ends with what its last attempt decided.
  for (int k = 0; k < 3; ++k) {
    Continuation last = continuations.begin(tier_test::numbered(k)).value();
    last.checkpoint(tier_test::checkpoint(999));
    EXPECT_TRUE(continuations.flush().durable);
    EXPECT_EQ(store.kept(tier_test::numbered(k))->generated, 999);
    last.complete();
    EXPECT_TRUE(continuations.flush().durable);
    EXPECT_FALSE(store.kept(tier_test::numbered(k)).has_value());
  }
}

} // namespace
} // namespace holdfast
