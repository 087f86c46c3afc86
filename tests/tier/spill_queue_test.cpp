// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/spill_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "holdfast/block/pool.h"
#include "holdfast/env/manual_clock.h"
#include "tests/code_of.h"

namespace holdfast {
namespace {

using testing::ElementsAre;

struct Rig {
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::vector<std::string> log; // what ran and how jobs ended
  SpillQueue queue{
      {.clock = clock,
       .writers = 0,
       .spill_bytes = Bytes(100),
       .checkpoint_bytes = Bytes(50)}};

  SpillJob
  job(const std::string& key, int64_t bytes, JobClass kind = JobClass::kSpill) {
    SpillJob job;
    job.kind = kind;
    job.key = key;
    job.owner = this;
    job.bytes = Bytes(bytes);
    job.work = [this, key] {
      log.push_back(key);
      return Status();
    };
    job.ended = [this, key](const JobEnd& end) {
      if (end.outcome != JobOutcome::kDone) {
        log.push_back(
            key +
            (end.outcome == JobOutcome::kFailed          ? " failed"
                 : end.outcome == JobOutcome::kCancelled ? " cancelled"
                                                         : " dropped"));
      }
    };
    return job;
  }
  int64_t dropped(JobClass kind, DropReason reason) const {
    return queue.stats(kind).dropped_by[static_cast<size_t>(reason)];
  }
};

TEST(SpillQueue, DropsWhatDoesNotFitAndSaysWhy) {
  Rig rig;
  EXPECT_EQ(rig.queue.submit(rig.job("a", 60)), Admission::kAdmitted);
  EXPECT_EQ(rig.queue.submit(rig.job("b", 41)), Admission::kDropped);
  EXPECT_EQ(rig.queue.submit(rig.job("c", 101)), Admission::kDropped);
  EXPECT_EQ(rig.queue.submit(rig.job("d", 40)), Admission::kAdmitted);
  EXPECT_EQ(rig.dropped(JobClass::kSpill, DropReason::kFull), 1);
  EXPECT_EQ(rig.dropped(JobClass::kSpill, DropReason::kTooLarge), 1);
  const SpillStats stats = rig.queue.stats(JobClass::kSpill);
  EXPECT_EQ(stats.pending, 2);
  EXPECT_EQ(stats.pending_bytes, Bytes(100));
  EXPECT_TRUE(rig.queue.drain());
  EXPECT_THAT(rig.log, ElementsAre("a", "d"));
  EXPECT_EQ(rig.queue.stats().pending_bytes, Bytes(0));
  EXPECT_EQ(rig.queue.stats().peak_bytes, Bytes(100));
}

TEST(SpillQueue, SpillsAndCheckpointsDoNotCrowdEachOtherOut) {
  Rig rig;
  const auto checkpoint = JobClass::kCheckpoint;
  EXPECT_EQ(rig.queue.submit(rig.job("s", 100)), Admission::kAdmitted);
  EXPECT_EQ(
      rig.queue.submit(rig.job("c", 50, checkpoint)), Admission::kAdmitted);
  EXPECT_EQ(rig.queue.submit(rig.job("d", 1, checkpoint)), Admission::kDropped);
  EXPECT_EQ(rig.queue.submit(rig.job("t", 1)), Admission::kDropped);
}

TEST(SpillQueue, TakesClassesInTurnWhenAllWait) {
  Rig rig;
  for (const char* key : {"s1", "s2", "s3"}) {
    ASSERT_EQ(rig.queue.submit(rig.job(key, 1)), Admission::kAdmitted);
  }
  for (const char* key : {"c1", "c2"}) {
    ASSERT_EQ(
        rig.queue.submit(rig.job(key, 1, JobClass::kCheckpoint)),
        Admission::kAdmitted);
  }
  ASSERT_EQ(
      rig.queue.submit(rig.job("x", 0, JobClass::kCleanup)),
      Admission::kAdmitted);
  EXPECT_TRUE(rig.queue.drain());
  EXPECT_THAT(rig.log, ElementsAre("s1", "c1", "x", "s2", "c2", "s3"));
}

TEST(SpillQueue, NeverDropsOrCancelsACleanupHoweverFull) {
  Rig rig;
  ASSERT_EQ(rig.queue.submit(rig.job("s", 100)), Admission::kAdmitted);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(
        rig.queue.submit(rig.job("x", 0, JobClass::kCleanup)),
        Admission::kAdmitted);
  }
  EXPECT_EQ(rig.queue.cancel_where([](const SpillJob&) { return true; }), 1);
  EXPECT_FALSE(rig.queue.shutdown(rig.clock->now())); // a deadline that passed
  EXPECT_EQ(
      rig.queue.submit(rig.job("x", 0, JobClass::kCleanup)),
      Admission::kAdmitted);
  EXPECT_TRUE(rig.queue.drain());
  EXPECT_EQ(rig.queue.stats(JobClass::kCleanup).done, 1001);
  EXPECT_EQ(rig.queue.stats(JobClass::kCleanup).dropped(), 0);
}

TEST(SpillQueue, DoesCleanupsThatAreLeftBeforeItIsGone) {
  std::vector<std::string> log;
  {
    Rig rig;
    ASSERT_EQ(rig.queue.submit(rig.job("s", 1)), Admission::kAdmitted);
    SpillJob cleanup = rig.job("x", 0, JobClass::kCleanup);
    cleanup.work = [&log] {
      log.emplace_back("x");
      return Status();
    };
    ASSERT_EQ(rig.queue.submit(cleanup), Admission::kAdmitted);
  }
  EXPECT_THAT(log, ElementsAre("x"));
}

TEST(SpillQueue, RunsJobsOfOneKeyInOrderAcrossClasses) {
  Rig rig;
  ASSERT_EQ(
      rig.queue.submit(rig.job("k", 1, JobClass::kCheckpoint)),
      Admission::kAdmitted);
  SpillJob cleanup = rig.job("k", 0, JobClass::kCleanup);
  cleanup.work = [&] {
    rig.log.emplace_back("removed");
    return Status();
  };
  ASSERT_EQ(rig.queue.submit(cleanup), Admission::kAdmitted);
  ASSERT_EQ(rig.queue.submit(rig.job("k", 1)), Admission::kAdmitted);
  EXPECT_TRUE(rig.queue.drain());
  EXPECT_THAT(rig.log, ElementsAre("k", "removed", "k"));
  EXPECT_EQ(rig.queue.keys(), 0u);
}

TEST(SpillQueue, CountsFailuresAlsoThoseThatThrow) {
  Rig rig;
  SpillJob refused = rig.job("a", 1);
  refused.work = [] { return Status(ErrorCode::kIo, "disk"); };
  SpillJob thrown = rig.job("b", 1);
  thrown.work = []() -> Status { throw Error(ErrorCode::kCorrupt, "torn"); };
  Status seen;
  thrown.ended = [&](const JobEnd& end) { seen = end.status; };
  ASSERT_EQ(rig.queue.submit(refused), Admission::kAdmitted);
  ASSERT_EQ(rig.queue.submit(thrown), Admission::kAdmitted);
  EXPECT_TRUE(rig.queue.drain());
  EXPECT_EQ(rig.queue.stats().failed, 2);
  EXPECT_EQ(rig.queue.stats().done, 0);
  EXPECT_EQ(seen.code(), ErrorCode::kCorrupt);
  EXPECT_THAT(rig.log, ElementsAre("a failed"));
}

TEST(SpillQueue, CountsCancelledJobsApartAndTellsTheirOwners) {
  Rig rig;
  for (const char* key : {"a", "b", "a"}) {
    ASSERT_EQ(rig.queue.submit(rig.job(key, 10)), Admission::kAdmitted);
  }
  EXPECT_EQ(
      rig.queue.cancel_where(
          [](const SpillJob& job) { return job.key == "a"; }),
      2);
  EXPECT_EQ(
      rig.queue.cancel_key("b", [](const SpillJob&) { return false; }), 0);
  const SpillStats stats = rig.queue.stats();
  EXPECT_EQ(stats.cancelled, 2);
  EXPECT_EQ(stats.dropped(), 0);
  EXPECT_EQ(stats.failed, 0);
  EXPECT_EQ(stats.pending_bytes, Bytes(10));
  EXPECT_TRUE(rig.queue.drain());
  EXPECT_THAT(rig.log, ElementsAre("a cancelled", "a cancelled", "b"));
}

TEST(SpillQueue, LetsGoOfReferencesAndBytesBeforeItTellsTheEnd) {
  Rig rig;
  BlockPool pool({Bytes(4096)});
  for (const auto outcome : {JobOutcome::kDone, JobOutcome::kCancelled}) {
    BlockRef block = pool.allocate(0);
    block.seal();
    SpillJob job = rig.job("a", 90);
    job.work = [block = std::move(block)] { return Status(); };
    bool told = false;
    job.ended = [&](const JobEnd& end) {
      told = true;
      EXPECT_EQ(end.outcome, outcome);
      EXPECT_EQ(pool.live_blocks(), 0);
      EXPECT_EQ(rig.queue.stats().pending_bytes, Bytes(0));
      EXPECT_EQ(rig.queue.stats().pending, 0);
      // There is room again, and the queue may be used from here.
      EXPECT_EQ(rig.queue.submit(rig.job("b", 100)), Admission::kAdmitted);
    };
    ASSERT_EQ(rig.queue.submit(std::move(job)), Admission::kAdmitted);
    ASSERT_EQ(pool.live_blocks(), 1);
    if (outcome == JobOutcome::kCancelled) {
      rig.queue.cancel_key("a", [](const SpillJob&) { return true; });
    }
    EXPECT_TRUE(rig.queue.drain());
    EXPECT_TRUE(rig.queue.drain()); // and what `ended` added
    EXPECT_TRUE(told);
  }
}

TEST(SpillQueue, LetsGoOfARefusedJobsReferencesAtOnce) {
  Rig rig;
  BlockPool pool({Bytes(4096)});
  SpillJob job = rig.job("a", 4096);
  job.work = [block = pool.allocate(0)] { return Status(); };
  EXPECT_EQ(rig.queue.submit(std::move(job)), Admission::kDropped);
  EXPECT_EQ(pool.live_blocks(), 0);
}

TEST(SpillQueue, MeasuresHowLongSubmittersWaitForRoom) {
  Rig rig;
  SpillJob slow = rig.job("slow", 80);
  slow.work = [&] {
    rig.clock->advance(std::chrono::milliseconds(30));
    return Status();
  };
  ASSERT_EQ(rig.queue.submit(slow), Admission::kAdmitted);
  EXPECT_EQ(
      rig.queue.submit_waiting(rig.job("next", 60), {}), Admission::kAdmitted);
  const SpillStats stats = rig.queue.stats(JobClass::kSpill);
  EXPECT_EQ(stats.waits, 1);
  EXPECT_EQ(stats.waited, std::chrono::milliseconds(30));
  EXPECT_EQ(stats.longest_wait, std::chrono::milliseconds(30));
  EXPECT_EQ(stats.dropped(), 0);
}

TEST(SpillQueue, ASubmitterMayWithdrawAndThatIsNoDrop) {
  Rig rig;
  ASSERT_EQ(rig.queue.submit(rig.job("a", 80)), Admission::kAdmitted);
  EXPECT_EQ(
      rig.queue.submit_waiting(
          rig.job("b", 60), {.until = rig.clock->now(), .stop = nullptr}),
      Admission::kWithdrawn);
  const std::atomic<bool> stop{true};
  EXPECT_EQ(
      rig.queue.submit_waiting(rig.job("c", 1), {.until = {}, .stop = &stop}),
      Admission::kWithdrawn);
  EXPECT_EQ(rig.queue.stats().cancelled, 2);
  EXPECT_EQ(rig.queue.stats().dropped(), 0);
}

TEST(SpillQueue, AShutdownNamesWhatItDropped) {
  Rig rig;
  ASSERT_EQ(rig.queue.submit(rig.job("a", 1)), Admission::kAdmitted);
  EXPECT_FALSE(rig.queue.shutdown(rig.clock->now()));
  EXPECT_THAT(rig.log, ElementsAre("a dropped"));
  EXPECT_EQ(rig.dropped(JobClass::kSpill, DropReason::kShutdown), 1);
  EXPECT_EQ(rig.queue.submit(rig.job("b", 1)), Admission::kDropped);
  EXPECT_EQ(rig.queue.submit_waiting(rig.job("b", 1), {}), Admission::kDropped);
  EXPECT_EQ(rig.dropped(JobClass::kSpill, DropReason::kClosed), 2);
}

TEST(SpillQueue, AShutdownInTimeWritesEverything) {
  Rig rig;
  ASSERT_EQ(rig.queue.submit(rig.job("a", 1)), Admission::kAdmitted);
  EXPECT_TRUE(rig.queue.shutdown());
  EXPECT_THAT(rig.log, ElementsAre("a"));
}

TEST(SpillQueue, RefusesJobsAndOptionsThatCannotBe) {
  Rig rig;
  SpillJob job = rig.job("a", -1);
  EXPECT_EQ(
      code_of([&] { (void)rig.queue.submit(job); }),
      ErrorCode::kInvalidArgument);
  job = rig.job("a", 1, JobClass::kCleanup);
  EXPECT_EQ(
      code_of([&] { (void)rig.queue.submit(job); }),
      ErrorCode::kInvalidArgument);
  job = rig.job("a", 1);
  job.work = nullptr;
  EXPECT_EQ(
      code_of([&] { (void)rig.queue.submit(job); }),
      ErrorCode::kInvalidArgument);
  SpillQueueOptions options{.clock = rig.clock};
  options.writers = 65;
  EXPECT_THROW(SpillQueue{options}, Error);
  options.writers = 1;
  options.spill_bytes = Bytes(0);
  EXPECT_THROW(SpillQueue{options}, Error);
  EXPECT_THROW(SpillQueue{SpillQueueOptions{}}, Error);
}

} // namespace
} // namespace holdfast
