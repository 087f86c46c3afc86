// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/durability.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/code_of.h"
#include "tests/tier/durability_rig.h"

namespace holdfast {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using tier_test::DurabilityRig;
using tier_test::record_key;

const RecordKey kA = record_key({1, 2, 3});
const RecordKey kB = record_key({1, 2, 4});

TEST(Durability, WritesAtOnceByDefaultAndRetriesAfterFiveSeconds) {
  const DurabilityOptions defaults;
  EXPECT_EQ(defaults.debounce, Clock::Duration{});
  EXPECT_EQ(defaults.retry, seconds(5));
  EXPECT_EQ(defaults.max_delay, seconds(2));
  DurabilityRig rig;
  rig.put(kA, 7);
  EXPECT_EQ(rig.dirty(), 1);
  rig.settle();
  EXPECT_EQ(rig.disk.number(kA), 7);
  EXPECT_EQ(rig.dirty(), 0);
}

TEST(Durability, APutWithoutTokensIsDirtyOnlyIfItCarriesAttachments) {
  DurabilityRig rig;
  const RecordKey object = record_key({}, "encoder");
  rig.ram.set(object, 5);
  EXPECT_EQ(rig.durability.put(object), 0u);
  EXPECT_EQ(rig.dirty(), 0);
  EXPECT_NE(rig.durability.put(object, {.attachments = true}), 0u);
  EXPECT_EQ(rig.dirty(), 1);
  rig.settle();
  EXPECT_EQ(rig.disk.number(object), 5);
}

TEST(Durability, TellsRecordsOfEqualLengthAndOfOtherSpacesApart) {
  DurabilityRig rig(seconds(1));
  rig.put(kA, 1);
  rig.put(kB, 2);
  rig.put(record_key({1, 2, 3}, "other"), 3);
  rig.put(record_key({1, 2, 3}), 4); // kA again
  EXPECT_EQ(rig.dirty(), 3);
  EXPECT_TRUE(rig.durability.flush().durable);
  EXPECT_EQ(rig.disk.number(kA), 4);
  EXPECT_EQ(rig.disk.number(kB), 2);
  EXPECT_EQ(rig.disk.number(record_key({1, 2, 3}, "other")), 3);
}

TEST(Durability, ADebounceGathersPutsIntoOneWrite) {
  DurabilityRig rig(milliseconds(100));
  rig.put(kA, 1);
  rig.clock->advance(milliseconds(99));
  rig.settle();
  EXPECT_EQ(rig.disk.stores(), 0);
  rig.put(kA, 2);
  rig.clock->advance(milliseconds(99));
  rig.settle();
  EXPECT_EQ(rig.disk.stores(), 0);
  rig.clock->advance(milliseconds(1));
  rig.settle();
  EXPECT_EQ(rig.disk.stores(), 1);
  EXPECT_EQ(rig.disk.number(kA), 2);
}

TEST(Durability, RearmedDebouncesCannotWaitForEver) {
  DurabilityRig rig(milliseconds(500));
  const Clock::Moment first = rig.clock->now();
  while (rig.disk.stores() == 0) {
    rig.put(kA, 1);
    rig.clock->advance(milliseconds(100));
    rig.settle();
    ASSERT_LE(rig.clock->now() - first, seconds(2));
  }
  EXPECT_EQ(rig.clock->now() - first, seconds(2));
}

TEST(Durability, KeepsADirtyVersionWhereAPutMayNotReplaceIt) {
  DurabilityRig rig(milliseconds(100));
  const uint64_t version = rig.put(kA, 1);
  rig.clock->advance(milliseconds(90));
  EXPECT_EQ(rig.durability.put_if_clean(kA), 0u);
  rig.clock->advance(milliseconds(10)); // the first put's debounce goes on
  rig.settle();
  EXPECT_TRUE(rig.disk.is_durable(kA, version));
  EXPECT_EQ(rig.dirty(), 0);
  EXPECT_NE(rig.durability.put_if_clean(kA), 0u);
}

TEST(Durability, TriesAgainAfterAFailureUntilTheStoreIsDone) {
  DurabilityRig rig;
  rig.disk.failures = 2;
  rig.put(kA, 7);
  rig.settle();
  EXPECT_EQ(rig.dirty(), 1);
  EXPECT_EQ(rig.durability.stats().failed, 1);
  rig.clock->advance(milliseconds(4999));
  rig.settle();
  EXPECT_EQ(rig.disk.stores(), 1);
  rig.clock->advance(milliseconds(1));
  rig.settle();
  EXPECT_EQ(rig.disk.stores(), 2);
  EXPECT_EQ(rig.dirty(), 1);
  rig.clock->advance(seconds(5));
  rig.settle();
  EXPECT_EQ(rig.disk.number(kA), 7);
  EXPECT_EQ(rig.dirty(), 0);
}

TEST(Durability, TriesAgainInItsOwnTimeWhereverTheWallsGoes) {
  constexpr int64_t kYear = int64_t{365} * 86400 * 1000000000;
  DurabilityRig rig;
  const int64_t wall = rig.clock->wall_ns();
  rig.disk.failures = 4;
  rig.put(kA, 7);
  rig.settle();
  int64_t tried = 1;
  for (const int64_t jump : {kYear, -kYear, -wall, 30 * kYear}) {
    SCOPED_TRACE(jump);
    rig.clock->set_wall_ns(wall + jump);
    rig.settle();
    EXPECT_EQ(rig.disk.stores(), tried) << "no sooner";
    rig.clock->advance(milliseconds(4999));
    rig.settle();
    EXPECT_EQ(rig.disk.stores(), tried);
    rig.clock->advance(milliseconds(1));
    rig.settle();
    EXPECT_EQ(rig.disk.stores(), ++tried) << "and no later";
  }
  EXPECT_EQ(rig.disk.number(kA), 7);
  EXPECT_EQ(rig.dirty(), 0);
}

TEST(Durability, ARecordStaysDirtyUntilTheStoreSaysItIsOnDisk) {
  DurabilityRig rig;
  rig.disk.during_store = [&](const RecordKey&) { EXPECT_EQ(rig.dirty(), 1); };
  rig.put(kA, 7);
  rig.durability.poll();
  EXPECT_EQ(rig.dirty(), 1);
  EXPECT_EQ(rig.durability.stats().pending_writes, 1);
  EXPECT_EQ(rig.durability.stats().pending_bytes, Bytes(100));
  rig.queue.drain();
  EXPECT_EQ(rig.dirty(), 0);
  EXPECT_EQ(rig.durability.stats().pending_writes, 0);
}

TEST(Durability, WritesOneVersionOfARecordAtATime) {
  DurabilityRig rig;
  rig.put(kA, 1);
  rig.durability.poll();
  rig.put(kA, 2);
  rig.durability.poll();
  rig.durability.poll();
  EXPECT_EQ(rig.durability.stats().pending_writes, 1);
  rig.queue.drain();
  EXPECT_EQ(rig.disk.stores(), 1);
}

TEST(Durability, AFinishedStoreClearsOnlyTheVersionItWrote) {
  DurabilityRig rig;
  rig.put(kA, 1);
  rig.disk.during_store = [&](const RecordKey&) {
    rig.disk.during_store = nullptr;
    rig.put(kA, 2);
  };
  rig.settle();
  EXPECT_EQ(rig.disk.number(kA), 1);
  EXPECT_EQ(rig.dirty(), 1);
  rig.settle(); // no further put
  EXPECT_EQ(rig.disk.number(kA), 2);
  EXPECT_EQ(rig.dirty(), 0);
}

TEST(Durability, AVersionPutDuringAFailedStoreIsTriedWithoutTheRetryTime) {
  DurabilityRig rig;
  rig.disk.failures = 1;
  rig.put(kA, 1);
  rig.disk.during_store = [&](const RecordKey&) {
    rig.disk.during_store = nullptr;
    rig.put(kA, 2);
  };
  rig.settle();
  EXPECT_EQ(rig.disk.number(kA), -1);
  rig.settle();
  EXPECT_EQ(rig.disk.number(kA), 2);
}

TEST(Durability, WhatIsDurableAlreadyCountsAsStoredWithoutCopyOrWrite) {
  DurabilityRig rig;
  const uint64_t version = rig.put(kA, 7);
  rig.disk.put(kA, version, 7);
  rig.settle();
  EXPECT_EQ(rig.dirty(), 0);
  EXPECT_EQ(rig.ram.made(), 0);
  EXPECT_EQ(rig.disk.stores(), 0);
  rig.put(kB, 8);
  rig.disk.put(kB, version + 1, 8);
  const FlushReport report = rig.durability.flush();
  EXPECT_TRUE(report.durable);
  EXPECT_EQ(report.flushed, 1);
  EXPECT_EQ(rig.ram.made(), 0);
}

TEST(Durability, ALongerDurableRecordCoversAnEvictedOneByItself) {
  DurabilityRig rig;
  rig.put(kA, 1);
  rig.ram.evict(kA);
  rig.settle();
  EXPECT_EQ(rig.dirty(), 1);
  rig.put(record_key({1, 2, 3, 4}), 2);
  rig.settle();
  EXPECT_EQ(rig.dirty(), 1);
  rig.clock->advance(seconds(5));
  rig.settle();
  EXPECT_EQ(rig.dirty(), 0);
}

// It is looked for after 5, 10, 20, ... 320 seconds, until it is put again.
TEST(Durability, ARecordWhoseStateIsGoneIsLookedForEverMoreRarely) {
  DurabilityRig rig;
  rig.put(kA, 1);
  rig.ram.evict(kA);
  rig.settle();
  EXPECT_EQ(rig.ram.made(), 1);
  int64_t tries = 1;
  for (const int64_t wait : {5, 10, 20, 40, 80, 160, 320, 320, 320}) {
    rig.clock->advance(seconds(wait) - milliseconds(1));
    rig.settle();
    EXPECT_EQ(rig.ram.made(), tries) << wait;
    rig.clock->advance(milliseconds(1));
    rig.settle();
    EXPECT_EQ(rig.ram.made(), ++tries) << wait;
  }
  rig.put(kA, 2);
  rig.settle();
  EXPECT_EQ(rig.disk.number(kA), 2);
}

TEST(Durability, AContentThatCannotBeMadeIsAFailureAndNothingIsLost) {
  DurabilityRig rig;
  rig.ram.throws = true;
  rig.put(kA, 1);
  rig.settle();
  EXPECT_EQ(rig.durability.stats().failed, 1);
  EXPECT_EQ(rig.dirty(), 1);
  rig.ram.throws = false;
  rig.clock->advance(seconds(5));
  rig.settle();
  EXPECT_EQ(rig.disk.number(kA), 1);
}

TEST(Durability, WaitsForRoomRatherThanDropARecord) {
  DurabilityRig rig({}, Bytes(250));
  for (int32_t i = 0; i < 20; ++i) {
    rig.put(record_key({i}), i);
  }
  rig.settle();
  EXPECT_EQ(rig.dirty(), 0);
  EXPECT_EQ(rig.durability.stats().dropped, 0);
  EXPECT_EQ(rig.queue.stats().peak_bytes, Bytes(200));
  EXPECT_GT(rig.queue.stats().waits, 0);
}

TEST(Durability, ARecordThatCanNeverFitIsDroppedEachTimeAndStaysDirty) {
  DurabilityRig rig({}, Bytes(99));
  rig.put(kA, 1);
  rig.settle();
  EXPECT_EQ(rig.durability.stats().dropped, 1);
  EXPECT_EQ(rig.dirty(), 1);
  rig.clock->advance(seconds(5));
  rig.settle();
  EXPECT_EQ(rig.durability.stats().dropped, 2);
}

TEST(Durability, LooksAtTheBudgetWhenTheQueueHasLetGo) {
  DurabilityRig rig;
  int called = 0;
  rig.stored = [&](const RecordKey& key) {
    ++called;
    EXPECT_EQ(key, kA);
    EXPECT_EQ(rig.durability.stats().pending_bytes, Bytes(0));
    EXPECT_EQ(rig.dirty(), 0);
  };
  rig.put(kA, 1);
  rig.settle();
  EXPECT_EQ(called, 1);
}

TEST(Durability, CountsWhatIsPendingDroppedAndFailedApart) {
  DurabilityRig rig({}, Bytes(150));
  rig.disk.failures = 1;
  rig.put(kA, 1);
  rig.settle(); // failed
  rig.ram.size = Bytes(151);
  rig.put(kB, 2);
  rig.settle(); // dropped
  rig.ram.size = Bytes(100);
  rig.put(record_key({5}), 3);
  rig.durability.poll(); // in the queue
  const DurabilityStats stats = rig.durability.stats();
  EXPECT_EQ(stats.pending_records, 3);
  EXPECT_EQ(stats.token_bytes, Bytes(28));
  EXPECT_EQ(stats.pending_writes, 1);
  EXPECT_EQ(stats.pending_bytes, Bytes(100));
  EXPECT_EQ(stats.dropped, 1);
  EXPECT_EQ(stats.failed, 1);
}

TEST(Durability, WhatIsForgottenIsNotWrittenAnyMore) {
  DurabilityRig rig;
  rig.put(kA, 1);
  rig.durability.poll();
  rig.put(kB, 2);
  rig.durability.forget(kA);
  rig.durability.forget(kA);
  EXPECT_EQ(rig.queue.stats().cancelled, 1);
  rig.settle();
  EXPECT_EQ(rig.disk.number(kA), -1);
  EXPECT_EQ(rig.disk.number(kB), 2);
  EXPECT_EQ(rig.dirty(), 0);
  EXPECT_EQ(rig.durability.stats().token_bytes, Bytes(0));
}

TEST(Durability, LeavesNothingInTheQueueWhenItIsDestroyed) {
  DurabilityRig rig;
  {
    Durability other(
        rig.queue,
        rig.ram,
        rig.disk,
        {.clock = rig.clock, .stored = {}, .background = false});
    rig.ram.set(kA, 1);
    other.put(kA);
    other.poll();
    rig.put(kB, 2);
    rig.durability.poll();
  }
  EXPECT_EQ(rig.queue.stats().cancelled, 1);
  rig.queue.drain();
  EXPECT_EQ(rig.disk.number(kA), -1);
  EXPECT_EQ(rig.disk.number(kB), 2);
}

TEST(Durability, RefusesWhatItCannotWorkWith) {
  DurabilityRig rig;
  const auto with = [&](const DurabilityOptions& options) {
    return code_of([&] { Durability(rig.queue, rig.ram, rig.disk, options); });
  };
  EXPECT_EQ(with({}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      with({.clock = rig.clock, .debounce = seconds(-1), .stored = {}}),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      code_of([&] {
        rig.durability.put({"chat", nullptr});
      }),
      ErrorCode::kInvalidArgument);
}

} // namespace
} // namespace holdfast
