// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "holdfast/tier/durability.h"
#include "tests/tier/durability_rig.h"

namespace holdfast {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using tier_test::DurabilityRig;
using tier_test::record_key;

const RecordKey kA = record_key({1, 2, 3});
const RecordKey kB = record_key({1, 2, 4});
const RecordKey kLonger = record_key({1, 2, 3, 4});

TEST(Flush, ForcesEveryDirtyRecordAndSaysSo) {
  DurabilityRig rig(seconds(1));
  rig.put(kA, 1);
  rig.put(kB, 2);
  const FlushReport report = rig.durability.flush();
  EXPECT_TRUE(report.durable);
  EXPECT_EQ(report.flushed, 2);
  EXPECT_EQ(report.pending, 0);
  EXPECT_EQ(report.pending_writes, 0);
  EXPECT_EQ(rig.disk.number(kA), 1);
  EXPECT_EQ(rig.disk.number(kB), 2);
  EXPECT_TRUE(rig.durability.flush().durable); // nothing to do
}

TEST(Flush, IsNotDurableWhileARecordsStateIsGoneHoweverOftenAsked) {
  DurabilityRig rig(seconds(1));
  rig.put(kA, 1);
  rig.put(kB, 2);
  rig.ram.evict(kA);
  for (int i = 0; i < 3; ++i) {
    const FlushReport report = rig.durability.flush();
    EXPECT_FALSE(report.durable);
    EXPECT_EQ(report.missing, 1);
    EXPECT_EQ(report.pending, 1);
    EXPECT_EQ(report.flushed, i == 0 ? 1 : 0);
    EXPECT_THAT(report.text(), HasSubstr("1 evicted, not on disk"));
  }
  rig.put(kA, 3);
  EXPECT_TRUE(rig.durability.flush().durable);
}

TEST(Flush, ReconcilesAnEvictedRecordWithALongerOneThatThisFlushWrote) {
  DurabilityRig rig(seconds(1));
  rig.put(kA, 1); // tried first
  rig.put(kLonger, 2);
  rig.ram.evict(kA);
  const FlushReport report = rig.durability.flush();
  EXPECT_TRUE(report.durable);
  EXPECT_EQ(report.missing, 0);
  EXPECT_EQ(report.flushed, 2);
}

TEST(Flush, DoesNotReconcileWithALongerRecordThatCannotBeRestoredThere) {
  DurabilityRig rig(seconds(1));
  rig.disk.restorable = false;
  rig.put(kA, 1);
  rig.put(kLonger, 2);
  rig.ram.evict(kA);
  const FlushReport report = rig.durability.flush();
  EXPECT_FALSE(report.durable);
  EXPECT_EQ(report.missing, 1);
  EXPECT_EQ(report.flushed, 1);
}

TEST(Flush, TriesEachVersionOnceAndIsNotDurableWhereOneFailed) {
  DurabilityRig rig(seconds(1));
  rig.disk.failures = 1;
  rig.put(kA, 1);
  rig.put(kB, 2);
  FlushReport report = rig.durability.flush();
  EXPECT_FALSE(report.durable);
  EXPECT_EQ(rig.disk.stores(), 2);
  EXPECT_EQ(report.flushed, 1);
  EXPECT_EQ(report.failed, 1);
  EXPECT_EQ(report.failed_now, 1);
  EXPECT_TRUE(report.text().ends_with(", last failure: [FakeDisk] refused"));
  // An earlier failure counts in the total alone.
  report = rig.durability.flush();
  EXPECT_TRUE(report.durable);
  EXPECT_EQ(report.failed, 1);
  EXPECT_EQ(report.failed_now, 0);
  EXPECT_EQ(report.text().find("refused"), std::string::npos);
}

// Made no content, or threw: the cause is told all the same.
TEST(Flush, SaysWhyAContentCouldNotBeMade) {
  DurabilityRig rig(seconds(1));
  rig.ram.throws = true;
  rig.put(kA, 1);
  const FlushReport report = rig.durability.flush();
  EXPECT_EQ(report.failure, "[FakeRam] no memory");
}

TEST(Flush, IsNotDurableWhereSomethingWasDroppedDuringIt) {
  DurabilityRig rig(seconds(1), Bytes(99));
  rig.put(kA, 1);
  FlushReport report = rig.durability.flush();
  EXPECT_FALSE(report.durable);
  EXPECT_EQ(report.dropped_now, 1);
  EXPECT_THAT(report.text(), HasSubstr("1 dropped"));
  rig.ram.size = Bytes(10);
  report = rig.durability.flush();
  EXPECT_TRUE(report.durable);
  EXPECT_EQ(report.dropped, 1); // total
  EXPECT_EQ(report.dropped_now, 0);
}

TEST(Flush, NeverCausesDropsItselfHoweverSmallTheQueue) {
  DurabilityRig rig(seconds(1), Bytes(100));
  for (int32_t i = 0; i < 50; ++i) {
    rig.put(record_key({i}), i);
  }
  const FlushReport report = rig.durability.flush();
  EXPECT_TRUE(report.durable);
  EXPECT_EQ(report.flushed, 50);
  EXPECT_EQ(report.dropped, 0);
}

TEST(Flush, TakesOverWaitingRetries) {
  DurabilityRig rig;
  rig.disk.failures = 1;
  rig.put(kA, 1);
  rig.settle();
  const FlushReport report = rig.durability.flush();
  EXPECT_TRUE(report.durable);
  EXPECT_EQ(rig.disk.stores(), 2);
  rig.clock->advance(seconds(60));
  rig.settle();
  EXPECT_EQ(rig.disk.stores(), 2);
}

TEST(Flush, LeavesAFailedRecordToTheNextRetry) {
  DurabilityRig rig(seconds(1));
  rig.disk.failures = 1;
  rig.put(kA, 1);
  EXPECT_FALSE(rig.durability.flush().durable);
  rig.clock->advance(milliseconds(4999));
  rig.settle();
  EXPECT_EQ(rig.disk.stores(), 1);
  rig.clock->advance(milliseconds(1));
  rig.settle();
  EXPECT_EQ(rig.disk.number(kA), 1);
}

TEST(Flush, WaitsForAStoreUnderWayAndWritesOnlyWhatItLeavesDirty) {
  DurabilityRig rig;
  rig.put(kA, 1);
  rig.put(kB, 1);
  rig.durability.poll(); // both are in the queue
  rig.put(kB, 2);
  const FlushReport report = rig.durability.flush();
  EXPECT_TRUE(report.durable);
  EXPECT_EQ(report.flushed, 2);
  EXPECT_EQ(rig.disk.stores(), 3);
  EXPECT_EQ(rig.disk.number(kB), 2);
}

TEST(Flush, CoversARecordThatIsPutAgainWhileItRuns) {
  DurabilityRig rig(seconds(1));
  rig.put(kA, 1);
  rig.put(kB, 2);
  rig.disk.during_store = [&](const RecordKey& key) {
    if (key == kA) {
      rig.put(kB, 3); // before its turn
    }
  };
  const FlushReport report = rig.durability.flush();
  EXPECT_EQ(report.flushed, 2);
  EXPECT_NE(rig.disk.number(kB), -1);
}

TEST(Flush, SaysHowMuchWasPutWhileItRanAndDoesNotCallThatDurable) {
  DurabilityRig rig(seconds(1));
  rig.put(kA, 1);
  rig.disk.during_store = [&](const RecordKey&) {
    rig.disk.during_store = nullptr;
    rig.put(kA, 2);
    rig.put(kB, 3);
  };
  const FlushReport report = rig.durability.flush();
  EXPECT_EQ(rig.disk.stores(), 1); // it ends, whatever is put
  EXPECT_FALSE(report.durable);
  EXPECT_EQ(report.flushed, 1);
  EXPECT_EQ(report.pending, 2);
  EXPECT_EQ(report.late, 2);
  rig.clock->advance(seconds(2));
  rig.settle();
  EXPECT_EQ(rig.disk.number(kA), 2);
  EXPECT_EQ(rig.disk.number(kB), 3);
}

TEST(Flush, EndsAtItsDeadlineAndSaysWhatWasNotSaved) {
  DurabilityRig rig(seconds(1));
  for (int32_t i = 0; i < 4; ++i) {
    rig.put(record_key({i}), i);
  }
  rig.ram.size = Bytes(600); // one at a time
  rig.disk.during_store = [&](const RecordKey&) {
    rig.clock->advance(milliseconds(40));
  };
  const FlushReport report =
      rig.durability.flush({.until = rig.clock->now() + milliseconds(100)});
  EXPECT_FALSE(report.durable);
  EXPECT_GT(report.pending, 0);
  EXPECT_LT(report.pending, 4);
  EXPECT_EQ(report.flushed + report.pending, 4);
  EXPECT_GE(report.elapsed_ms, 100);
  EXPECT_EQ(report.dropped, 0);
  EXPECT_TRUE(rig.durability.flush().durable); // nothing was lost
}

TEST(Flush, AfterTheLastOneNoWriteStartsInTheBackground) {
  DurabilityRig rig;
  rig.disk.failures = 1;
  rig.put(kA, 1);
  rig.put(kB, 2);
  EXPECT_FALSE(rig.durability.flush({.until = {}, .last = true}).durable);
  const int64_t stores = rig.disk.stores();
  rig.put(kLonger, 3);
  rig.clock->advance(seconds(60));
  rig.settle();
  EXPECT_EQ(rig.disk.stores(), stores);
  EXPECT_EQ(rig.durability.poll(), std::nullopt);
  EXPECT_EQ(rig.dirty(), 2); // and it is known what is not saved
}

TEST(Flush, TheLastOneCancelsWhatItCouldNotStart) {
  DurabilityRig rig(seconds(1));
  for (int32_t i = 0; i < 5; ++i) {
    rig.put(record_key({i}), i);
  }
  rig.disk.during_store = [&](const RecordKey&) {
    rig.clock->advance(milliseconds(60));
  };
  const FlushReport report = rig.durability.flush(
      {.until = rig.clock->now() + milliseconds(100), .last = true});
  EXPECT_FALSE(report.durable);
  EXPECT_EQ(report.flushed, 2);
  EXPECT_EQ(report.pending, 3);
  EXPECT_EQ(report.pending_writes, 0);
  EXPECT_THAT(report.text(), HasSubstr("3 not saved yet"));
  EXPECT_EQ(rig.queue.stats().cancelled, 3);
  rig.settle();
  EXPECT_EQ(rig.disk.stores(), 2);
}

TEST(Flush, DoesNotCountAForgottenRecordAsSaved) {
  DurabilityRig rig(seconds(1));
  rig.put(kA, 1);
  rig.put(kB, 2);
  rig.disk.during_store = [&](const RecordKey& key) {
    if (key == kA) {
      rig.durability.forget(kB);
    }
  };
  EXPECT_EQ(rig.durability.flush().flushed, 1);
}

TEST(Flush, OneLineSaysWhatHappened) {
  FlushReport report;
  report.flushed = 3;
  report.missing = 1;
  report.pending = 4;
  report.late = 2;
  report.failed_now = 1;
  report.elapsed_ms = 12;
  report.failure = "[tier] expected room, got none";
  EXPECT_EQ(
      report.text(),
      "not durable: 3 saved, 1 evicted, not on disk, 3 not saved "
      "yet (2 put since), 1 failed, 12 ms, last failure: [tier] expected room, "
      "got none");
}

} // namespace
} // namespace holdfast
