// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Makes records durable: what is put becomes dirty, is written after a
// debounce, tried again after a failure, and stays dirty until the store says
// it is on disk. flush() forces everything and says what was not saved.
//
// At most one store of a record is under way; a finished one clears only the
// version it wrote. Threads: any; no lock is held while the source, the store,
// the queue or `stored` is called. docs/durability.md has states and reports.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_set>

#include "holdfast/env/clock.h"
#include "holdfast/tier/dirty_records.h"
#include "holdfast/tier/flush_report.h"
#include "holdfast/tier/record.h"
#include "holdfast/tier/spill_queue.h"

namespace holdfast {

struct DurabilityOptions {
  std::shared_ptr<Clock> clock; // needed
  /// What a put waits for further puts of its record, at most `max_delay` from
  /// the first: re-armed waits end.
  Clock::Duration debounce{};
  Clock::Duration max_delay = std::chrono::seconds(2);
  Clock::Duration retry = std::chrono::seconds(5);
  /// Called after a record was written and the queue has let go of its content:
  /// the moment to look at the RAM budget again. On a writer; must not throw.
  std::function<void(const RecordKey&)> stored = {};
  /// False: nothing starts by itself; poll() does what is due.
  bool background = true;
};

struct PutOptions {
  /// A record without tokens becomes dirty only with attachments.
  bool attachments = false;
};

class Durability {
 public:
  /// All of them outlive this. Throws kInvalidArgument for a missing clock or
  /// a negative time.
  Durability(
      SpillQueue& queue,
      RecordSource& source,
      RecordStore& store,
      DurabilityOptions options);
  /// Starts nothing more, cancels what waits, waits for what is being written.
  /// Does not flush.
  ~Durability();
  Durability(const Durability&) = delete;
  Durability& operator=(const Durability&) = delete;

  /// The record changed; the source has its new content already. Returns its
  /// version, 0 where there is nothing to write. Throws kInvalidArgument for a
  /// key without a token list.
  uint64_t put(const RecordKey& key, PutOptions options = {});
  /// The same, but an older version that is still dirty stays what is written:
  /// 0 then.
  uint64_t put_if_clean(const RecordKey& key, PutOptions options = {});
  /// The record is not wanted any more. Cancels its store, waits for one that
  /// is being written, so that a removal from disk may follow.
  void forget(const RecordKey& key);

  /// Starts the stores that are due; when the next will be, if any waits.
  std::optional<Clock::Moment> poll();

  /// Tries every record made dirty before the call once, and waits for the
  /// outcomes. Joins a running flush; see FlushReport.
  FlushReport flush(const FlushOptions& options = {});

  DurabilityStats stats() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Deadline = std::optional<Clock::Moment>;
  struct FlushRun;

  uint64_t put(const RecordKey& key, PutOptions options, bool replace);
  void work();
  Flight begin(DirtyRecords::Record& record);
  /// Makes the content and queues its store; the flight's end is settle().
  void carry_out(const Flight& flight, const RoomWait& wait);
  /// What can be said without the queue; nothing where `content` is to be
  /// written.
  std::optional<StoreOutcome> prepare(
      const Flight& flight,
      std::shared_ptr<const RecordContent>& content,
      Status& failed);
  SpillJob
  job(const Flight& flight, std::shared_ptr<const RecordContent> content);
  /// failed: why, where the outcome is kFailed.
  void settle(
      const Flight& flight,
      StoreOutcome outcome,
      bool written,
      const Status& failed = {});
  /// Waits until `done`; false where the deadline passed first.
  bool
  await(Lock& lock, const Deadline& until, const std::function<bool()>& done);

  // Flushes: durability_flush.cpp.
  void close();
  void run_flush(Lock& lock, FlushRun& run, const Deadline& until);
  /// Takes the records that the flush covers over from the background.
  void take(FlushRun& run);
  /// Starts the forced try of each; false where the deadline passed.
  bool force(Lock& lock, FlushRun& run, const Deadline& until);
  void reconcile(Lock& lock, FlushRun& run);
  void release(FlushRun& run);
  void finish(Lock& lock, FlushRun& run, const FlushOptions& options);
  /// The record of an item that is still dirty since before the flush.
  DirtyRecords::Record* left(const FlushRun& run, size_t item);
  void cancel_waiting(Lock& lock);
  FlushReport report(const FlushRun& run) const;

  SpillQueue& queue_;
  RecordSource& source_;
  RecordStore& store_;
  const DurabilityOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable wake_; // the background thread
  std::condition_variable settled_; // flights and flushes
  DirtyRecords records_;
  std::unordered_multiset<uint64_t> flying_; // ids; until `stored` returned
  int64_t failed_before_queue_ = 0; // made no content
  std::string failure_; // the last one's text
  std::shared_ptr<FlushRun> running_;
  std::atomic<bool> closing_{false}; // nothing starts in the background
  std::thread thread_;
};

} // namespace holdfast
