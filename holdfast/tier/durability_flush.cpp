// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <exception>
#include <utility>
#include <vector>

#include "holdfast/tier/durability.h"
#include "holdfast/tier/durability_run.h"

namespace holdfast {

namespace {

constexpr std::array kSpills{JobClass::kSpill};

int64_t milliseconds(Clock::Duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

} // namespace

FlushReport Durability::flush(const FlushOptions& options) {
  const Clock::Moment started = options_.clock->now();
  if (options.last) {
    close();
  }
  Lock lock(mutex_);
  const auto run = std::make_shared<FlushRun>();
  run->mark = records_.newest();
  run->before = report(*run);
  while (running_) {
    const std::shared_ptr<FlushRun> other = running_;
    if (!await(lock, options.until, [&] { return other->done; })) {
      run->cut = true; // its own deadline, not the other's
      break;
    }
    if (other->mark >= run->mark && !other->cut) {
      FlushReport shared = other->report;
      shared.elapsed_ms = milliseconds(options_.clock->now() - started);
      return shared;
    }
  }
  if (run->cut) {
    finish(lock, *run, options);
  } else {
    // For all who joined the last run with newer records.
    run->mark = records_.newest();
    running_ = run;
    const FlushRun::End end(run, running_, settled_);
    run_flush(lock, *run, options.until);
    finish(lock, *run, options);
  }
  run->report.elapsed_ms = milliseconds(options_.clock->now() - started);
  return run->report;
}

void Durability::close() {
  {
    const Lock lock(mutex_);
    closing_ = true;
    wake_.notify_all();
  }
  queue_.wake();
}

void Durability::run_flush(Lock& lock, FlushRun& run, const Deadline& until) {
  take(run);
  run.cut = !force(lock, run, until);
  if (!run.cut) {
    lock.unlock();
    run.cut = !queue_.drain(kSpills, until);
    lock.lock();
  }
  if (!run.cut) {
    reconcile(lock, run);
  }
  release(run);
}

void Durability::take(FlushRun& run) {
  for (const uint64_t id : records_.dirty_since(run.mark)) {
    run.items.push_back({.id = id});
    records_.take(id);
  }
}

DirtyRecords::Record* Durability::left(const FlushRun& run, size_t item) {
  DirtyRecords::Record* record = records_.find(run.items[item].id);
  return record && record->since <= run.mark ? record : nullptr;
}

bool Durability::force(Lock& lock, FlushRun& run, const Deadline& until) {
  // First those that nobody is writing; then, of the others, what their store
  // leaves dirty.
  std::vector<size_t> flying;
  const auto attempt = [&](size_t item) {
    DirtyRecords::Record* record = left(run, item);
    if (!record) {
      return;
    }
    run.items[item].tried = record->version;
    const Flight flight = begin(*record);
    lock.unlock();
    carry_out(flight, {.until = until, .stop = nullptr});
    lock.lock();
  };
  const auto late = [&] { return until && options_.clock->now() >= *until; };
  for (size_t item = 0; item < run.items.size(); ++item) {
    if (late()) {
      return false;
    }
    const DirtyRecords::Record* record = left(run, item);
    if (record && record->flying != 0) {
      flying.push_back(item);
    } else {
      attempt(item);
    }
  }
  const auto landed = [&](size_t item) {
    const DirtyRecords::Record* record = records_.find(run.items[item].id);
    return !record || record->flying == 0;
  };
  for (const size_t item : flying) {
    if (!await(lock, until, [&] { return landed(item); })) {
      return false;
    }
    attempt(item);
  }
  for (size_t item = 0; item < run.items.size(); ++item) {
    if (!await(lock, until, [&] { return landed(item); })) {
      return false;
    }
  }
  return true;
}

void Durability::reconcile(Lock& lock, FlushRun& run) {
  for (size_t item = 0; item < run.items.size(); ++item) {
    const DirtyRecords::Record* record = left(run, item);
    if (!record || record->last != StoreOutcome::kMissing) {
      continue;
    }
    const uint64_t version = record->version;
    const RecordKey key = record->key;
    lock.unlock();
    bool written = false;
    try {
      written = store_.is_covered(key);
    } catch (const std::exception&) {
      // It stays missing.
    }
    lock.lock();
    if (written) {
      records_.cover(run.items[item].id, version);
    }
  }
}

void Durability::release(FlushRun& run) {
  const Clock::Moment now = options_.clock->now();
  for (const FlushRun::Item& item : run.items) {
    records_.release(item.id, item.tried, now);
  }
  wake_.notify_one();
}

void Durability::finish(
    Lock& lock,
    FlushRun& run,
    const FlushOptions& options) {
  if (options.last && run.cut) {
    cancel_waiting(lock);
  }
  run.report = report(run);
  FlushReport& result = run.report;
  for (size_t item = 0; item < run.items.size(); ++item) {
    const DirtyRecords::Record* record = left(run, item);
    if (!record && !run.items[item].forgotten) {
      ++result.flushed;
    } else if (record && record->last == StoreOutcome::kMissing) {
      ++result.missing;
    }
  }
  result.dropped_now = result.dropped - run.before.dropped;
  result.failed_now = result.failed - run.before.failed;
  result.durable = !run.cut && result.pending == 0 && result.dropped_now == 0 &&
      result.failed_now == 0;
}

void Durability::cancel_waiting(Lock& lock) {
  lock.unlock();
  queue_.cancel_where([&](const SpillJob& job) { return job.owner == this; });
  lock.lock();
}

FlushReport Durability::report(const FlushRun& run) const {
  const SpillStats spills = queue_.stats(JobClass::kSpill);
  FlushReport result;
  result.pending = records_.size();
  result.late = result.pending -
      static_cast<int64_t>(records_.dirty_since(run.mark).size());
  result.pending_writes = spills.pending;
  result.pending_bytes = spills.pending_bytes;
  result.dropped = spills.dropped();
  result.failed = spills.failed + failed_before_queue_;
  result.failure = failure_;
  return result;
}

} // namespace holdfast
