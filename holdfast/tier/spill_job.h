// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A write that waits for its turn: what it holds, whose it is and how it ended.
//
// A job is a value. It holds settled memory alone: references to sealed blocks
// and bytes that were copied, in the closure of `work`. Values; any thread.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "holdfast/base/status.h"
#include "holdfast/base/strong.h"

namespace holdfast {

enum class JobClass {
  kSpill, // state that leaves RAM or becomes durable
  kCheckpoint, // of a generation; has bytes of its own
  kCleanup, // removes; never dropped, never cancelled, holds nothing
};
constexpr size_t kJobClasses = 3;

enum class DropReason {
  kFull, // its class had no room left
  kTooLarge, // exceeds what its class may hold at all
  kClosed, // came after the queue was shut
  kShutdown, // had not started when the shutdown's deadline passed
};
constexpr size_t kDropReasons = 4;

/// A short stable name, such as "too large".
const char* name(DropReason reason);

enum class JobOutcome { kDone, kFailed, kDropped, kCancelled };

struct JobEnd {
  JobOutcome outcome = JobOutcome::kDone;
  Status status; // why it failed
  DropReason reason = DropReason::kFull; // why it was dropped
};

struct SpillJob {
  JobClass kind = JobClass::kSpill;
  /// Jobs of one key run one at a time, in the order of submission.
  std::string key;
  /// The submitter's, for cancelling: who, and which of his.
  const void* owner = nullptr;
  uint64_t tag = 0;
  /// What `work` keeps alive: whole images and copied bytes.
  Bytes bytes;
  /// Runs on a writer. An exception counts as a failure.
  std::function<Status()> work;
  /// Called once for each job that was admitted, on any thread, with no lock of
  /// the queue held, after `work` and all it held are gone. Must not throw,
  /// drain or shut the queue.
  std::function<void(const JobEnd&)> ended;
};

} // namespace holdfast
