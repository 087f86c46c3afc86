// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Ends of jobs in orders that one queue would not give.

#include "holdfast/tier/continuation_books.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

struct Open {
  Open() {
    books.open("k", nullptr);
    attempt = books.begin("k");
  }
  ContinuationReport report() const {
    ContinuationReport report;
    books.count(report);
    return report;
  }
  ContinuationBooks books;
  ContinuationBooks::Attempt attempt;
};

TEST(ContinuationBooks, ASuccessClearsFailuresOfTheSameAndOlderBarriers) {
  Open open;
  const uint64_t first = open.books.add_cleanup("k");
  const uint64_t second = open.books.add_cleanup("k");
  open.books.end_cleanup("k", first, false);
  EXPECT_EQ(open.report().failed_cleanups, 1);
  open.books.end_cleanup("k", second, true);
  EXPECT_EQ(open.report().failed_cleanups, 0);
  EXPECT_TRUE(open.books.can_restore("k"));
}

TEST(ContinuationBooks, ASuccessNeverClearsANewerBarriersFailure) {
  Open open;
  const uint64_t first = open.books.add_cleanup("k");
  const uint64_t second = open.books.add_cleanup("k");
  open.books.end_cleanup("k", second, false);
  open.books.end_cleanup("k", first, true);
  EXPECT_EQ(open.report().failed_cleanups, 1);
  EXPECT_FALSE(open.books.can_restore("k"));
}

TEST(ContinuationBooks, ALateFailureOfAnOlderBarrierIsIgnored) {
  Open open;
  const uint64_t first = open.books.add_cleanup("k");
  const uint64_t second = open.books.add_cleanup("k");
  open.books.end_cleanup("k", second, true);
  EXPECT_FALSE(open.books.can_restore("k")); // one is pending
  open.books.end_cleanup("k", first, false);
  EXPECT_EQ(open.report().failed_cleanups, 0);
  EXPECT_TRUE(open.books.can_restore("k"));
}

TEST(ContinuationBooks, ALateEndOfAnOlderVersionSaysNothing) {
  Open open;
  open.books.add_write(*open.attempt);
  open.books.add_write(*open.attempt);
  open.books.end_write(*open.attempt, 2, true);
  open.books.end_write(*open.attempt, 1, false);
  EXPECT_EQ(open.report().failed_attempts, 0);
  open.books.add_write(*open.attempt);
  open.books.add_write(*open.attempt);
  open.books.end_write(*open.attempt, 4, false);
  open.books.end_write(*open.attempt, 3, true);
  EXPECT_EQ(open.report().failed_attempts, 1);
}

TEST(ContinuationBooks, AReleasedKeyStaysUntilItsJobsHaveEnded) {
  Open open;
  open.books.add_write(*open.attempt);
  open.books.release(*open.attempt);
  EXPECT_EQ(open.books.keys(), 1);
  open.books.end_write(*open.attempt, 1, true);
  EXPECT_EQ(open.books.keys(), 0);
  EXPECT_EQ(open.books.jobs(), 0);
}

} // namespace
} // namespace holdfast
