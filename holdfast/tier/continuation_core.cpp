// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/continuation_core.h"

#include <array>
#include <chrono>
#include <utility>

#include "holdfast/base/check.h"

namespace holdfast {

namespace {

constexpr std::array kKinds{JobClass::kCheckpoint, JobClass::kCleanup};

std::string lane_of(const std::string& key) {
  return "continuation:" + key;
}

} // namespace

ContinuationCore::ContinuationCore(
    SpillQueue& queue,
    CheckpointStore& store,
    std::shared_ptr<Clock> clock)
    : queue_(queue), store_(store), clock_(std::move(clock)) {
  expect(clock_ != nullptr, "[Continuations] expected a clock, got none");
  expect(
      !store_.coordinated_.exchange(true),
      "[Continuations] expected a store without a coordinator, got one that "
      "has it");
}

ContinuationCore::~ContinuationCore() = default;

void ContinuationCore::close() {
  Lock lock(mutex_);
  closed_ = true;
  // Whoever gives a claim back needs this until it is gone.
  const auto busy = [&] { return books_.jobs() > 0 || books_.is_closing(); };
  while (busy()) {
    lock.unlock();
    const bool ran = queue_.is_inline() && queue_.run_one();
    lock.lock();
    if (!ran && busy()) {
      ended_.wait(lock);
    }
  }
  books_.clear();
  give_back(lock);
  store_.coordinated_ = false;
}

Result<ContinuationCore::Attempt>
ContinuationCore::begin(const std::string& key) {
  const std::lock_guard claiming(claiming_);
  Lock lock(mutex_);
  ended_.wait(lock, [&] { return !books_.is_closing(key); });
  if (!books_.has(key)) {
    lock.unlock();
    auto claim = store_.claim(key);
    if (!claim.ok()) {
      return claim.status();
    }
    lock.lock();
    books_.open(key, std::move(claim).value());
  }
  if (books_.needs_cleanup(key)) {
    submit_cleanup(key);
  }
  Attempt attempt = books_.begin(key);
  lock.unlock();
  queue_.cancel_key(lane_of(key), [&](const SpillJob& job) {
    return job.owner == this && job.tag < attempt->id;
  });
  return attempt;
}

Enqueued
ContinuationCore::checkpoint(const Attempt& attempt, Checkpoint checkpoint) {
  expect(
      checkpoint.content != nullptr,
      "[Continuation] expected a checkpoint with content, got none");
  expect(
      checkpoint.generated >= Position(0) &&
          checkpoint.generated <= checkpoint.tokens,
      "[Continuation] expected 0 <= generated <= tokens, got another count");
  Lock lock(mutex_);
  if (closed_ || !books_.is_current(*attempt)) {
    return Enqueued::kDeclined;
  }
  const uint64_t barrier = books_.add_write(*attempt);
  if (queue_.submit(write_job(attempt, std::move(checkpoint), barrier)) ==
      Admission::kAdmitted) {
    return Enqueued::kQueued;
  }
  books_.drop_write(*attempt);
  give_back(lock);
  return Enqueued::kDropped;
}

SpillJob ContinuationCore::write_job(
    const Attempt& attempt,
    Checkpoint checkpoint,
    uint64_t barrier) {
  const CheckpointVersion version{attempt->id, attempt->version};
  SpillJob job;
  job.kind = JobClass::kCheckpoint;
  job.key = lane_of(attempt->key);
  job.owner = this;
  job.tag = attempt->id;
  job.bytes = checkpoint.content->bytes();
  job.work = [this, attempt, version, barrier, checkpoint] {
    return write(attempt, version, barrier, checkpoint);
  };
  job.ended = [this, attempt, version](const JobEnd& end) {
    Lock lock(mutex_);
    note_end(end);
    books_.end_write(
        *attempt, version.version, end.outcome == JobOutcome::kDone);
    give_back(lock);
    ended_.notify_all(); // under the lock: then nothing of this is needed
  };
  return job;
}

Status ContinuationCore::write(
    const Attempt& attempt,
    CheckpointVersion version,
    uint64_t barrier,
    const Checkpoint& checkpoint) {
  {
    const Lock lock(mutex_);
    if (!books_.is_current(*attempt)) {
      ++skipped_;
      return {};
    }
  }
  const Status written = store_.write(attempt->key, version, checkpoint);
  {
    const Lock lock(mutex_);
    if (!written.ok() || books_.is_current(*attempt)) {
      return written;
    }
    ++overtaken_;
  }
  // No later job of the key runs before this returns.
  const Status removed = store_.remove(attempt->key);
  if (!removed.ok()) {
    const Lock lock(mutex_);
    books_.fail_cleanup(attempt->key, barrier);
  }
  return removed;
}

void ContinuationCore::submit_cleanup(const std::string& key) {
  const uint64_t barrier = books_.add_cleanup(key);
  SpillJob job;
  job.kind = JobClass::kCleanup;
  job.key = lane_of(key);
  job.owner = this;
  job.work = [this, key] { return store_.remove(key); };
  job.ended = [this, key, barrier](const JobEnd& end) {
    Lock lock(mutex_);
    note_end(end);
    books_.end_cleanup(key, barrier, end.outcome == JobOutcome::kDone);
    give_back(lock);
    ended_.notify_all();
  };
  ensure(
      queue_.submit(std::move(job)) == Admission::kAdmitted,
      "[Continuations] expected every cleanup to be admitted, got a refusal");
}

void ContinuationCore::complete(const Attempt& attempt) {
  {
    const Lock lock(mutex_);
    if (closed_ || attempt->completed) {
      return;
    }
    if (books_.complete(*attempt)) {
      submit_cleanup(attempt->key);
    }
  }
  // What slips through is skipped when it runs.
  queue_.cancel_key(lane_of(attempt->key), [&](const SpillJob& job) {
    return job.owner == this && job.tag == attempt->id;
  });
}

void ContinuationCore::release(const Attempt& attempt) {
  Lock lock(mutex_);
  books_.release(*attempt);
  give_back(lock);
}

void ContinuationCore::give_back(Lock& lock) {
  std::vector<ContinuationBooks::Settled> settled = books_.take_settled();
  if (settled.empty()) {
    return;
  }
  lock.unlock();
  for (ContinuationBooks::Settled& each : settled) {
    each.claim.reset();
  }
  lock.lock();
  books_.end_closing(settled);
  ended_.notify_all();
}

bool ContinuationCore::is_current(const Attempt& attempt) const {
  const Lock lock(mutex_);
  return !closed_ && books_.is_current(*attempt);
}

bool ContinuationCore::can_restore(const std::string& key) const {
  const Lock lock(mutex_);
  return books_.can_restore(key);
}

ContinuationReport ContinuationCore::flush(std::optional<Clock::Moment> until) {
  const Clock::Moment started = clock_->now();
  {
    const Lock lock(mutex_);
    for (const std::string& key : books_.keys_to_clean()) {
      submit_cleanup(key);
    }
  }
  const bool drained = queue_.drain(kKinds, until);
  const Lock lock(mutex_);
  ContinuationReport report;
  books_.count(report);
  report.durable = drained && report.pending_writes == 0 &&
      report.pending_cleanups == 0 && report.failed_attempts == 0 &&
      report.failed_cleanups == 0;
  report.elapsed_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                          clock_->now() - started)
                          .count();
  report.failure = failure_;
  report.stats = stats_locked();
  return report;
}

void ContinuationCore::note_end(const JobEnd& end) {
  if (end.outcome == JobOutcome::kFailed) {
    failure_ = end.status.text();
  }
}

ContinuationStats ContinuationCore::stats() const {
  const Lock lock(mutex_);
  return stats_locked();
}

ContinuationStats ContinuationCore::stats_locked() const {
  const SpillStats queue =
      queue_.stats(JobClass::kCheckpoint) + queue_.stats(JobClass::kCleanup);
  return {
      .pending = queue.pending,
      .pending_bytes = queue.pending_bytes,
      .dropped = queue.dropped(),
      .failed = queue.failed,
      .cancelled = queue.cancelled,
      .skipped = skipped_,
      .overtaken = overtaken_,
      .keys = books_.keys()};
}

} // namespace holdfast
