// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What Continuations and its attempts share: the books under a lock, and the
// jobs. Jobs enter the queue under the lock, so that their order is that of
// their barriers. Threads: any; the store is called with no lock held.

#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "holdfast/tier/continuation_books.h"
#include "holdfast/tier/continuations.h"

namespace holdfast {

class ContinuationCore {
 public:
  using Attempt = ContinuationBooks::Attempt;

  ContinuationCore(
      SpillQueue& queue,
      CheckpointStore& store,
      std::shared_ptr<Clock> clock);
  ~ContinuationCore();

  /// Waits for all jobs; declines from here on.
  void close();
  Result<Attempt> begin(const std::string& key);
  Enqueued checkpoint(const Attempt& attempt, Checkpoint checkpoint);
  void complete(const Attempt& attempt);
  void release(const Attempt& attempt);
  bool is_current(const Attempt& attempt) const;
  bool can_restore(const std::string& key) const;
  ContinuationReport flush(std::optional<Clock::Moment> until);
  ContinuationStats stats() const;

 private:
  using Lock = std::unique_lock<std::mutex>;

  SpillJob
  write_job(const Attempt& attempt, Checkpoint checkpoint, uint64_t barrier);
  Status write(
      const Attempt& attempt,
      CheckpointVersion version,
      uint64_t barrier,
      const Checkpoint& checkpoint);
  void submit_cleanup(const std::string& key);
  void note_end(const JobEnd& end);
  /// Gives the claims of settled keys back. The lock is open in between:
  /// nothing of this but the lock is held over the store's locks.
  void give_back(Lock& lock);
  ContinuationStats stats_locked() const;

  SpillQueue& queue_;
  CheckpointStore& store_;
  const std::shared_ptr<Clock> clock_;
  std::mutex claiming_; // before mutex_: one claim at a time
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  ContinuationBooks books_;
  std::string failure_; // the last one's text
  int64_t skipped_ = 0;
  int64_t overtaken_ = 0;
  bool closed_ = false;
};

} // namespace holdfast
