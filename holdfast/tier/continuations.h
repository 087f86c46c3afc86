// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Resumable generations: checkpoints of requests under their keys, written in
// order, removed once the request is complete.
//
// A key has one attempt that may write: the newest, until it is complete. The
// removal of a completed one is a barrier: it comes after the key's earlier
// writes and before its later ones, and until it has succeeded the key is not
// restorable. Settled keys leave nothing behind. Threads: any.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "holdfast/base/status.h"
#include "holdfast/env/clock.h"
#include "holdfast/tier/checkpoint.h"
#include "holdfast/tier/spill_queue.h"

namespace holdfast {

class ContinuationCore;
struct ContinuationAttempt;

enum class Enqueued {
  kQueued,
  kDeclined, // the attempt is complete or superseded: nothing to write
  kDropped, // no room; the attempt's newest checkpoint is not saved
};

/// An attempt of a request. Its destructor is a cancel or a disconnect: queued
/// and durable checkpoints stay. Moves; one thread at a time.
class Continuation {
 public:
  Continuation(Continuation&& other) noexcept = default;
  Continuation& operator=(Continuation&& other) noexcept;
  ~Continuation();

  /// Queues a checkpoint. Throws kInvalidArgument without content, or where
  /// not 0 <= generated <= tokens.
  Enqueued checkpoint(Checkpoint checkpoint);
  /// The response is whole: the key's checkpoints are removed. Does nothing
  /// where it is complete already; removes nothing where it was superseded.
  void complete();
  /// True while its checkpoints may be written.
  bool current() const;

 private:
  friend class Continuations;
  Continuation(
      std::shared_ptr<ContinuationCore> core,
      std::shared_ptr<ContinuationAttempt> attempt);
  void release();

  std::shared_ptr<ContinuationCore> core_;
  std::shared_ptr<ContinuationAttempt> attempt_;
};

struct ContinuationStats {
  int64_t pending = 0; // writes and cleanups in the queue
  Bytes pending_bytes;
  int64_t dropped = 0; // checkpoints, since the queue was made
  int64_t failed = 0; // writes and cleanups
  int64_t cancelled = 0; // of completed and superseded attempts
  int64_t skipped = 0; // the same, noticed by the writer
  int64_t overtaken = 0; // superseded while written, so removed again
  int64_t keys = 0; // with an attempt, a job or a failure
};

/// Counts are of the moment, save `dropped` and `failed` in `stats`.
struct ContinuationReport {
  /// Every attempt's newest checkpoint is on disk, and every completed one's
  /// are gone.
  bool durable = false;
  int64_t pending_writes = 0;
  int64_t pending_cleanups = 0;
  int64_t failed_attempts = 0; // whose newest checkpoint is not on disk
  int64_t failed_cleanups = 0;
  int64_t elapsed_ms = 0;
  /// Why the last write or removal that failed did, of all so far; empty where
  /// none did.
  std::string failure = {};
  ContinuationStats stats; // at the end
};

class Continuations {
 public:
  /// All of them outlive this. Throws kInvalidArgument for a missing clock or a
  /// store that has a coordinator already.
  Continuations(
      SpillQueue& queue,
      CheckpointStore& store,
      std::shared_ptr<Clock> clock);
  /// Waits for its jobs. Attempts that are left decline from here on.
  ~Continuations();
  Continuations(const Continuations&) = delete;
  Continuations& operator=(const Continuations&) = delete;

  /// A new attempt, which supersedes the key's former one. The error of the
  /// store where another process has the key. A removal that had failed is
  /// tried again before the attempt's first write.
  Result<Continuation> begin(const std::string& key);
  /// False while a removal of the key's checkpoints is pending or has failed.
  bool can_restore(const std::string& key) const;
  /// Tries failed removals again where no attempt has the key, waits for what
  /// was queued before the call, at most until then.
  ContinuationReport flush(std::optional<Clock::Moment> until = {});
  ContinuationStats stats() const;

 private:
  std::shared_ptr<ContinuationCore> core_;
};

} // namespace holdfast
