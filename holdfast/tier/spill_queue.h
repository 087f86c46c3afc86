// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Writes that wait, bounded by bytes, and the pool of threads that does them.
//
// Spills and checkpoints have their shares of the bytes: neither crowds the
// other out. Jobs of one key run one at a time, in order. Whatever is not
// written has a count and a reason. A job's references are gone and its bytes
// are free before its end is told. Threads: any; submit() calls nobody back, so
// it may be called under a lock that `ended` takes; the rest may not.

#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "holdfast/base/strong.h"
#include "holdfast/env/clock.h"
#include "holdfast/tier/spill_job.h"
#include "holdfast/tier/spill_lanes.h"
#include "holdfast/tier/spill_stats.h"

namespace holdfast {

struct SpillQueueOptions {
  std::shared_ptr<Clock> clock; // needed
  /// 0: whoever waits (for room, in drain, in shutdown) does the jobs himself,
  /// in an order that depends on the calls alone.
  int writers = 1;
  Bytes spill_bytes{int64_t{256} << 20};
  /// Where there is one, asked with each spill that comes: spills may hold so
  /// much from then on, where it is more. Called under the queue's lock.
  std::function<Bytes()> more_spill_bytes = nullptr;
  Bytes checkpoint_bytes{int64_t{64} << 20};
};

/// How long a submitter waits for room.
struct RoomWait {
  std::optional<Clock::Moment> until; // none: for ever
  /// Ends the wait when it becomes true; wake() makes it look.
  const std::atomic<bool>* stop = nullptr;
};

enum class Admission {
  kAdmitted,
  kDropped, // counted with its reason
  kWithdrawn, // the wait ended first; counted as cancelled
};

class SpillQueue {
 public:
  /// Throws kInvalidArgument for a missing clock, more than 64 writers or a
  /// share that is not positive.
  explicit SpillQueue(const SpillQueueOptions& options);
  /// Drops what has not started, save cleanups: these are done first.
  ~SpillQueue();
  SpillQueue(const SpillQueue&) = delete;
  SpillQueue& operator=(const SpillQueue&) = delete;

  /// Admits the job or drops it, at once. A job that is not admitted is gone
  /// when this returns, and its `ended` is never called. A cleanup is always
  /// admitted. Throws kInvalidArgument for a job without work, with negative
  /// bytes, or a cleanup that holds bytes.
  Admission submit(SpillJob job);
  /// The same, but waits while its class has no room; those who wait are served
  /// in order, and submit() may overtake them.
  Admission submit_waiting(SpillJob job, const RoomWait& wait);
  /// Makes those who wait for room look at their `stop`.
  void wake();

  /// Cancels waiting jobs, never a cleanup; calls their `ended` before it
  /// returns. How many they were.
  int64_t cancel_where(const SpillLanes::Predicate& wanted);
  /// The same among the jobs of one key.
  int64_t
  cancel_key(const std::string& key, const SpillLanes::Predicate& wanted);

  /// Waits until all jobs of `kinds` that were admitted before the call have
  /// ended and told so. False where `until` passed first.
  bool drain(
      std::span<const JobClass> kinds,
      std::optional<Clock::Moment> until = {});
  bool drain(std::optional<Clock::Moment> until = {});
  /// Does one job on the calling thread; false where none may go.
  bool run_one();
  /// Admits nothing more but cleanups and drains; when `until` passes, drops
  /// what has not started, save cleanups. True where nothing was dropped and
  /// nothing is left.
  bool shutdown(std::optional<Clock::Moment> until = {});

  /// True where there are no writers: who waits for a job must do it.
  bool is_inline() const {
    return inline_;
  }
  SpillStats stats(JobClass kind) const;
  SpillStats stats() const;
  /// Keys with a job.
  size_t keys() const;

 private:
  using Lock = std::unique_lock<std::mutex>;

  struct Class {
    Bytes limit;
    SpillStats stats;
    std::set<uint64_t> unended; // sequences, until `ended` has returned
    std::list<uint64_t> waiters; // tickets of those who wait for room
  };

  Class& of(JobClass kind) {
    return classes_[static_cast<size_t>(kind)];
  }
  /// What the class may hold; it grows, so that what was admitted, or waits,
  /// still fits.
  Bytes limit(JobClass kind);
  bool has_room(const SpillJob& job);
  /// Why the job cannot be admitted however long it waits, if so.
  std::optional<DropReason> refusal(const SpillJob& job);
  Admission drop(JobClass kind, DropReason reason);
  void admit(SpillJob job);
  bool await_room(Lock& lock, const SpillJob& job, const RoomWait& wait);
  void count_wait(JobClass kind, Clock::Moment started);
  /// Waits on `wake`, or does a job where the queue has no writers. False
  /// where `until` has passed.
  bool pause(
      Lock& lock,
      std::condition_variable& wake,
      const std::optional<Clock::Moment>& until);
  bool run_ready(Lock& lock);
  /// Ends a job whose `work` is gone. The lock is open in between.
  void end(Lock& lock, WaitingJob& waiting, const JobEnd& end);
  int64_t end_all(Lock& lock, SpillLanes::Jobs jobs, const JobEnd& how);
  void write();

  const std::shared_ptr<Clock> clock_;
  const std::function<Bytes()> more_spill_bytes_;
  const bool inline_;
  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable room_;
  std::condition_variable ended_;
  SpillLanes lanes_;
  std::array<Class, kJobClasses> classes_;
  uint64_t next_sequence_ = 1;
  uint64_t next_ticket_ = 1;
  bool closed_ = false;
  bool stop_ = false;
  std::vector<std::thread> writers_;
};

} // namespace holdfast
