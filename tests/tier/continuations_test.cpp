// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/continuations.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/code_of.h"
#include "tests/sanitized.h"
#include "tests/tier/checkpoint_fakes.h"

namespace holdfast {
namespace {

using tier_test::checkpoint;
using tier_test::ContinuationRig;

TEST(Continuations, KeepTheNewestCheckpointUntilTheRequestIsComplete) {
  ContinuationRig rig;
  Continuation attempt = rig.begin("k");
  EXPECT_EQ(attempt.checkpoint(checkpoint(1)), Enqueued::kQueued);
  EXPECT_EQ(attempt.checkpoint(checkpoint(2)), Enqueued::kQueued);
  EXPECT_TRUE(rig.continuations.flush().durable);
  ASSERT_TRUE(rig.store.kept("k").has_value());
  EXPECT_EQ(rig.store.kept("k")->version, 2u);
  EXPECT_TRUE(rig.continuations.can_restore("k"));
  attempt.complete();
  EXPECT_FALSE(rig.continuations.can_restore("k")); // at once
  EXPECT_TRUE(rig.continuations.flush().durable);
  EXPECT_FALSE(rig.store.kept("k").has_value());
  EXPECT_TRUE(rig.continuations.can_restore("k"));
}

TEST(Continuations, RecordHowManyOfTheirTokensWereGenerated) {
  ContinuationRig rig;
  Continuation attempt = rig.begin("k");
  attempt.checkpoint(checkpoint(37));
  rig.continuations.flush();
  EXPECT_EQ(rig.store.kept("k")->generated, 37);
  Checkpoint wrong = checkpoint(5);
  wrong.generated = Position(106); // of 105
  EXPECT_EQ(
      code_of([&] { attempt.checkpoint(wrong); }), ErrorCode::kInvalidArgument);
  wrong = checkpoint(5);
  wrong.content = nullptr;
  EXPECT_EQ(
      code_of([&] { attempt.checkpoint(wrong); }), ErrorCode::kInvalidArgument);
}

TEST(Continuations, ASupersededAttemptCanNoLongerWrite) {
  ContinuationRig rig;
  Continuation first = rig.begin("k");
  first.checkpoint(checkpoint(1));
  Continuation second = rig.begin("k");
  EXPECT_FALSE(first.current());
  EXPECT_EQ(first.checkpoint(checkpoint(2)), Enqueued::kDeclined);
  second.checkpoint(checkpoint(3));
  EXPECT_TRUE(rig.continuations.flush().durable);
  EXPECT_EQ(rig.store.writes(), 1);
  EXPECT_EQ(rig.store.kept("k")->generated, 3);
  EXPECT_EQ(rig.continuations.stats().cancelled, 1);
  EXPECT_EQ(rig.continuations.stats().dropped, 0);
  EXPECT_EQ(rig.continuations.stats().failed, 0);
}

TEST(Continuations, ACompletedAttemptCanNoLongerWrite) {
  ContinuationRig rig;
  Continuation attempt = rig.begin("k");
  attempt.checkpoint(checkpoint(1));
  attempt.complete();
  EXPECT_EQ(attempt.checkpoint(checkpoint(2)), Enqueued::kDeclined);
  EXPECT_TRUE(rig.continuations.flush().durable);
  EXPECT_EQ(rig.store.writes(), 0);
  EXPECT_EQ(rig.continuations.stats().cancelled, 1);
}

TEST(Continuations, ACleanupComesBeforeTheKeysLaterWrites) {
  ContinuationRig rig;
  Continuation first = rig.begin("k");
  first.checkpoint(checkpoint(1));
  rig.continuations.flush();
  first.complete();
  Continuation second = rig.begin("k");
  second.checkpoint(checkpoint(2));
  rig.store.during_write = [&](const std::string&) {
    EXPECT_EQ(rig.store.removals(), 1);
  };
  EXPECT_TRUE(rig.continuations.flush().durable);
  EXPECT_EQ(rig.store.kept("k")->generated, 2);
}

TEST(Continuations, AWriteOvertakenInFlightIsRemovedBeforeTheKeysNextJob) {
  ContinuationRig rig;
  Continuation first = rig.begin("k");
  std::optional<Continuation> second;
  first.checkpoint(checkpoint(1));
  rig.store.during_write = [&](const std::string&) {
    rig.store.during_write = nullptr;
    second = rig.begin("k");
    second->checkpoint(checkpoint(2));
  };
  ASSERT_TRUE(rig.queue.run_one());
  EXPECT_FALSE(rig.store.kept("k").has_value());
  EXPECT_EQ(rig.continuations.stats().overtaken, 1);
  EXPECT_TRUE(rig.continuations.flush().durable);
  EXPECT_EQ(rig.store.kept("k")->generated, 2);
}

TEST(Continuations, WhatAnOvertakenWriteLeftIsNeverOfferedNorHidden) {
  ContinuationRig rig;
  Continuation first = rig.begin("k");
  std::optional<Continuation> second;
  first.checkpoint(checkpoint(1));
  rig.store.during_write = [&](const std::string&) { second = rig.begin("k"); };
  rig.store.remove_failures = 1;
  const ContinuationReport report = rig.continuations.flush();
  EXPECT_FALSE(report.durable);
  EXPECT_EQ(report.failed_cleanups, 1);
  EXPECT_FALSE(rig.continuations.can_restore("k"));
  second->complete();
  EXPECT_TRUE(rig.continuations.flush().durable);
  EXPECT_TRUE(rig.continuations.can_restore("k"));
}

TEST(Continuations, ACompletionDuringAWriteRemovesItAndAllBefore) {
  ContinuationRig rig;
  Continuation attempt = rig.begin("k");
  attempt.checkpoint(checkpoint(1));
  rig.store.during_write = [&](const std::string&) { attempt.complete(); };
  rig.store.remove_failures = 1; // of the overtaken write; the cleanup follows
  EXPECT_TRUE(rig.queue.run_one());
  EXPECT_TRUE(rig.store.kept("k").has_value());
  EXPECT_TRUE(rig.continuations.flush().durable);
  EXPECT_FALSE(rig.store.kept("k").has_value());
  EXPECT_TRUE(rig.continuations.can_restore("k"));
}

TEST(Continuations, CompletingASupersededAttemptRemovesNothing) {
  ContinuationRig rig;
  Continuation first = rig.begin("k");
  Continuation second = rig.begin("k");
  second.checkpoint(checkpoint(2));
  first.complete();
  first.complete();
  EXPECT_TRUE(rig.continuations.flush().durable);
  EXPECT_EQ(rig.store.removals(), 0);
  EXPECT_EQ(rig.store.kept("k")->generated, 2);
}

TEST(Continuations, CompletingTwiceIsHarmless) {
  ContinuationRig rig;
  Continuation attempt = rig.begin("k");
  attempt.complete();
  attempt.complete();
  rig.continuations.flush();
  attempt.complete();
  EXPECT_TRUE(rig.continuations.flush().durable);
  EXPECT_EQ(rig.store.removals(), 1);
}

TEST(Continuations, ACancelKeepsQueuedAndDurableCheckpoints) {
  ContinuationRig rig;
  {
    Continuation attempt = rig.begin("k");
    attempt.checkpoint(checkpoint(1));
    rig.continuations.flush();
    attempt.checkpoint(checkpoint(2));
  } // a disconnect
  EXPECT_EQ(rig.store.kept("k")->generated, 1);
  EXPECT_TRUE(rig.continuations.flush().durable);
  EXPECT_EQ(rig.store.kept("k")->generated, 2);
  EXPECT_EQ(rig.store.removals(), 0);
  EXPECT_EQ(rig.continuations.stats().keys, 0);
}

TEST(Continuations, OnlyTheNewestVersionDecidesWhetherAnAttemptFailed) {
  ContinuationRig rig;
  Continuation attempt = rig.begin("k");
  attempt.checkpoint(checkpoint(1));
  attempt.checkpoint(checkpoint(2));
  rig.store.write_failures = 1; // of the first
  ContinuationReport report = rig.continuations.flush();
  EXPECT_TRUE(report.durable);
  EXPECT_EQ(report.stats.failed, 1);
  attempt.checkpoint(checkpoint(3));
  EXPECT_EQ(attempt.checkpoint(checkpoint(4, Bytes(95))), Enqueued::kDropped);
  report = rig.continuations.flush();
  EXPECT_FALSE(report.durable); // the third is there, the fourth is not
  EXPECT_EQ(report.failed_attempts, 1);
  EXPECT_EQ(report.stats.dropped, 1);
  attempt.checkpoint(checkpoint(5));
  EXPECT_TRUE(rig.continuations.flush().durable);
}

TEST(Continuations, AReleasedAttemptWhoseNewestWriteFailedStaysInTheReport) {
  ContinuationRig rig;
  {
    Continuation attempt = rig.begin("k");
    attempt.checkpoint(checkpoint(1));
    rig.store.write_failures = 1;
  }
  for (int i = 0; i < 2; ++i) {
    const ContinuationReport report = rig.continuations.flush();
    EXPECT_FALSE(report.durable);
    EXPECT_EQ(report.failed_attempts, 1);
    EXPECT_EQ(report.failure, "[FakeCheckpoints] refused");
  }
  Continuation again = rig.begin("k");
  again.checkpoint(checkpoint(2));
  EXPECT_TRUE(rig.continuations.flush().durable);
}

TEST(Continuations, AFailedCleanupKeepsTheKeyFromBeingRestored) {
  ContinuationRig rig;
  rig.begin("k").complete();
  rig.store.remove_failures = 1;
  ContinuationReport report = rig.continuations.flush();
  EXPECT_FALSE(report.durable);
  EXPECT_EQ(report.failed_cleanups, 1);
  EXPECT_FALSE(rig.continuations.can_restore("k"));
  EXPECT_TRUE(rig.continuations.can_restore("other"));
  report = rig.continuations.flush(); // tries it again
  EXPECT_TRUE(report.durable);
  EXPECT_TRUE(rig.continuations.can_restore("k"));
}

TEST(Continuations, AFailedCleanupIsTriedBeforeTheNextAttemptWrites) {
  ContinuationRig rig;
  rig.begin("k").complete();
  rig.store.remove_failures = 1;
  rig.queue.drain();
  Continuation next = rig.begin("k");
  next.checkpoint(checkpoint(2));
  EXPECT_TRUE(rig.continuations.flush().durable);
  EXPECT_EQ(rig.store.kept("k")->generated, 2);
  EXPECT_TRUE(rig.continuations.can_restore("k"));
}

TEST(Continuations, AFlushNeverRemovesWhatALaterAttemptHasWritten) {
  ContinuationRig rig;
  rig.begin("k").complete();
  rig.store.remove_failures = 2;
  rig.queue.drain();
  Continuation next = rig.begin("k"); // its retry fails as well
  next.checkpoint(checkpoint(2));
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(rig.continuations.flush().durable);
    EXPECT_TRUE(rig.store.kept("k").has_value());
  }
}

TEST(Continuations, CleanupsAreNeverDroppedHoweverFullTheQueue) {
  ContinuationRig rig;
  Continuation full = rig.begin("full");
  EXPECT_EQ(full.checkpoint(checkpoint(1, Bytes(100))), Enqueued::kQueued);
  for (int i = 0; i < 100; ++i) {
    Continuation attempt = rig.begin(tier_test::numbered(i));
    EXPECT_EQ(attempt.checkpoint(checkpoint(1)), Enqueued::kDropped);
    attempt.complete();
  }
  EXPECT_TRUE(rig.continuations.flush().durable);
  EXPECT_EQ(rig.store.removals(), 100);
}

TEST(Continuations, APendingWriteMakesAFlushNotDurable) {
  ContinuationRig rig;
  Continuation attempt = rig.begin("k");
  attempt.checkpoint(checkpoint(1));
  const ContinuationReport report = rig.continuations.flush(rig.clock->now());
  EXPECT_FALSE(report.durable);
  EXPECT_EQ(report.pending_writes, 1);
  EXPECT_EQ(report.stats.pending, 1);
  EXPECT_EQ(report.stats.pending_bytes, Bytes(10));
}

TEST(Continuations, AStoreHasOneCoordinator) {
  ContinuationRig rig;
  EXPECT_EQ(
      code_of([&] { Continuations(rig.queue, rig.store, rig.clock); }),
      ErrorCode::kInvalidArgument);
  tier_test::FakeCheckpoints other;
  { Continuations first(rig.queue, other, rig.clock); }
  EXPECT_EQ(
      code_of([&] { Continuations(rig.queue, other, rig.clock); }),
      ErrorCode::kOk);
}

TEST(Continuations, AKeyThatAnotherProcessHasIsRefusedWithTheStoresReason) {
  ContinuationRig rig;
  rig.store.elsewhere = {"k"};
  const auto refused = rig.continuations.begin("k");
  EXPECT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(rig.continuations.stats().keys, 0);
}

TEST(Continuations, HoldAKeyAgainstOtherProcessesUntilItsLastJobHasEnded) {
  ContinuationRig rig;
  {
    Continuation attempt = rig.begin("k");
    EXPECT_EQ(rig.store.claims(), 1);
    Continuation again = rig.begin("k");
    EXPECT_EQ(rig.store.claims(), 1);
    again.complete();
  }
  EXPECT_EQ(rig.store.claims(), 1); // the cleanup waits
  rig.continuations.flush();
  EXPECT_EQ(rig.store.claims(), 0);
}

constexpr int kManyKeys = test::kSanitized ? 50'000 : 1'000'000;

TEST(Continuations, AMillionSettledKeysLeaveNothing) {
  ContinuationRig rig;
  for (int i = 0; i < kManyKeys; ++i) {
    Continuation attempt = rig.begin(std::to_string(i));
    attempt.checkpoint(checkpoint(1));
    if (i % 2 == 0) {
      attempt.complete();
    }
    if (i % 8 == 7) {
      rig.queue.drain();
    }
  }
  EXPECT_TRUE(rig.continuations.flush().durable);
  EXPECT_EQ(rig.continuations.stats().keys, 0);
  EXPECT_EQ(rig.queue.keys(), 0u);
  EXPECT_EQ(rig.store.claims(), 0);
}

TEST(Continuations, AttemptsThatOutliveTheirCoordinatorDecline) {
  tier_test::FakeCheckpoints store;
  const auto clock = std::make_shared<ManualClock>();
  SpillQueue queue({.clock = clock, .writers = 0});
  std::optional<Continuation> attempt;
  {
    Continuations continuations(queue, store, clock);
    attempt = continuations.begin("k").value();
    attempt->checkpoint(checkpoint(1));
  }
  EXPECT_TRUE(store.kept("k").has_value()); // it waited for its jobs
  EXPECT_EQ(store.claims(), 0);
  EXPECT_EQ(attempt->checkpoint(checkpoint(2)), Enqueued::kDeclined);
  attempt->complete();
  EXPECT_TRUE(store.kept("k").has_value());
}

} // namespace
} // namespace holdfast
