// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/spill_queue.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "holdfast/base/check.h"

namespace holdfast {

namespace {

constexpr int kMaxWriters = 64;
constexpr std::array<JobClass, kJobClasses> kAllClasses{
    JobClass::kSpill,
    JobClass::kCheckpoint,
    JobClass::kCleanup};

bool not_cleanup(const SpillJob& job) {
  return job.kind != JobClass::kCleanup;
}

void check(const SpillJob& job) {
  expect(bool(job.work), "[SpillQueue] expected a job with work, got none");
  expect(
      job.bytes >= Bytes(0),
      "[SpillQueue] expected bytes of a job >= 0, got less");
  expect(
      not_cleanup(job) || job.bytes == Bytes(0),
      "[SpillQueue] expected a cleanup that holds nothing, got bytes");
}

/// Does the work and lets go of what it held.
Status run(std::function<Status()> work) {
  try {
    return work();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  } catch (const std::exception& error) {
    return {ErrorCode::kInternal, error.what()};
  }
}

} // namespace

const char* name(DropReason reason) {
  switch (reason) {
    case DropReason::kFull:
      return "full";
    case DropReason::kTooLarge:
      return "too large";
    case DropReason::kClosed:
      return "closed";
    case DropReason::kShutdown:
      return "shutdown";
  }
  return "unknown";
}

SpillQueue::SpillQueue(const SpillQueueOptions& options)
    : clock_(options.clock),
      more_spill_bytes_(options.more_spill_bytes),
      inline_(options.writers == 0) {
  expect(clock_ != nullptr, "[SpillQueue] expected a clock, got none");
  expect(
      options.writers >= 0 && options.writers <= kMaxWriters,
      "[SpillQueue] expected 0 to 64 writers, got another number");
  expect(
      options.spill_bytes > Bytes(0) && options.checkpoint_bytes > Bytes(0),
      "[SpillQueue] expected shares > 0 bytes, got less");
  of(JobClass::kSpill).limit = options.spill_bytes;
  of(JobClass::kCheckpoint).limit = options.checkpoint_bytes;
  for (int i = 0; i < options.writers; ++i) {
    writers_.emplace_back([this] { write(); });
  }
}

SpillQueue::~SpillQueue() {
  Lock lock(mutex_);
  closed_ = true;
  end_all(
      lock,
      lanes_.extract(not_cleanup),
      {.outcome = JobOutcome::kDropped,
       .status = {},
       .reason = DropReason::kShutdown});
  stop_ = true;
  work_.notify_all();
  while (inline_ && run_ready(lock)) {
  }
  lock.unlock();
  for (std::thread& writer : writers_) {
    writer.join();
  }
}

Admission SpillQueue::submit(SpillJob job) {
  check(job);
  const Lock lock(mutex_);
  if (const auto reason = refusal(job)) {
    return drop(job.kind, *reason);
  }
  if (!has_room(job)) {
    return drop(job.kind, DropReason::kFull);
  }
  admit(std::move(job));
  return Admission::kAdmitted;
}

Admission SpillQueue::submit_waiting(SpillJob job, const RoomWait& wait) {
  check(job);
  Lock lock(mutex_);
  if (const auto reason = refusal(job)) {
    return drop(job.kind, *reason);
  }
  if (!await_room(lock, job, wait)) {
    ++of(job.kind).stats.cancelled;
    return Admission::kWithdrawn;
  }
  if (const auto reason = refusal(job)) {
    return drop(job.kind, *reason); // it was shut meanwhile
  }
  admit(std::move(job));
  return Admission::kAdmitted;
}

void SpillQueue::wake() {
  const Lock lock(mutex_); // nobody is between his look and his wait
  room_.notify_all();
}

bool SpillQueue::has_room(const SpillJob& job) {
  const Class& its = of(job.kind);
  return job.kind == JobClass::kCleanup ||
      its.stats.pending_bytes + job.bytes <= limit(job.kind);
}

Bytes SpillQueue::limit(JobClass kind) {
  Class& its = of(kind);
  if (kind == JobClass::kSpill && more_spill_bytes_) {
    its.limit = std::max(its.limit, more_spill_bytes_());
  }
  return its.limit;
}

std::optional<DropReason> SpillQueue::refusal(const SpillJob& job) {
  if (job.kind == JobClass::kCleanup) {
    return std::nullopt;
  }
  if (closed_) {
    return DropReason::kClosed;
  }
  if (job.bytes > limit(job.kind)) {
    return DropReason::kTooLarge;
  }
  return std::nullopt;
}

Admission SpillQueue::drop(JobClass kind, DropReason reason) {
  ++of(kind).stats.dropped_by[static_cast<size_t>(reason)];
  return Admission::kDropped;
}

void SpillQueue::admit(SpillJob job) {
  Class& its = of(job.kind);
  ++its.stats.pending;
  its.stats.pending_bytes += job.bytes;
  its.stats.peak_bytes =
      std::max(its.stats.peak_bytes, its.stats.pending_bytes);
  its.unended.insert(next_sequence_);
  lanes_.push({.job = std::move(job), .sequence = next_sequence_++});
  work_.notify_one();
  if (inline_) {
    ended_.notify_all(); // who drains looks for a job
  }
}

bool SpillQueue::await_room(
    Lock& lock,
    const SpillJob& job,
    const RoomWait& wait) {
  const auto stopped = [&] { return wait.stop && wait.stop->load(); };
  Class& its = of(job.kind);
  if (stopped()) {
    return false;
  }
  if (its.waiters.empty() && has_room(job)) {
    return true;
  }
  const Clock::Moment started = clock_->now();
  const auto ticket = its.waiters.insert(its.waiters.end(), next_ticket_++);
  bool in_time = true;
  while (in_time && !stopped() && !closed_ &&
         !(ticket == its.waiters.begin() && has_room(job))) {
    in_time = pause(lock, room_, wait.until);
  }
  its.waiters.erase(ticket);
  room_.notify_all(); // the next in line may fit as well
  count_wait(job.kind, started);
  return in_time && !stopped();
}

void SpillQueue::count_wait(JobClass kind, Clock::Moment started) {
  SpillStats& stats = of(kind).stats;
  const Clock::Duration waited = clock_->now() - started;
  ++stats.waits;
  stats.waited += waited;
  stats.longest_wait = std::max(stats.longest_wait, waited);
}

bool SpillQueue::pause(
    Lock& lock,
    std::condition_variable& wake,
    const std::optional<Clock::Moment>& until) {
  if (until && clock_->now() >= *until) {
    return false;
  }
  if (inline_ && run_ready(lock)) {
    return true;
  }
  if (until) {
    clock_->wait_until(lock, wake, *until);
  } else {
    wake.wait(lock);
  }
  return true;
}

int64_t SpillQueue::cancel_where(const SpillLanes::Predicate& wanted) {
  Lock lock(mutex_);
  auto jobs = lanes_.extract(
      [&](const SpillJob& job) { return not_cleanup(job) && wanted(job); });
  return end_all(
      lock,
      std::move(jobs),
      {.outcome = JobOutcome::kCancelled, .status = {}, .reason = {}});
}

int64_t SpillQueue::cancel_key(
    const std::string& key,
    const SpillLanes::Predicate& wanted) {
  Lock lock(mutex_);
  auto jobs = lanes_.extract(key, [&](const SpillJob& job) {
    return not_cleanup(job) && wanted(job);
  });
  return end_all(
      lock,
      std::move(jobs),
      {.outcome = JobOutcome::kCancelled, .status = {}, .reason = {}});
}

int64_t
SpillQueue::end_all(Lock& lock, SpillLanes::Jobs jobs, const JobEnd& how) {
  const auto count = static_cast<int64_t>(jobs.size());
  lock.unlock();
  for (WaitingJob& waiting : jobs) {
    waiting.job.work = nullptr;
  }
  lock.lock();
  for (WaitingJob& waiting : jobs) {
    end(lock, waiting, how);
  }
  return count;
}

bool SpillQueue::drain(
    std::span<const JobClass> kinds,
    std::optional<Clock::Moment> until) {
  Lock lock(mutex_);
  const uint64_t mark = next_sequence_;
  const auto ended = [&] {
    return std::ranges::all_of(kinds, [&](JobClass kind) {
      const auto& unended = of(kind).unended;
      return unended.empty() || *unended.begin() >= mark;
    });
  };
  while (!ended()) {
    if (!pause(lock, ended_, until)) {
      return false;
    }
  }
  return true;
}

bool SpillQueue::drain(std::optional<Clock::Moment> until) {
  return drain(kAllClasses, until);
}

bool SpillQueue::run_one() {
  Lock lock(mutex_);
  return run_ready(lock);
}

bool SpillQueue::shutdown(std::optional<Clock::Moment> until) {
  {
    const Lock lock(mutex_);
    closed_ = true;
    room_.notify_all();
  }
  const bool drained = drain(until);
  Lock lock(mutex_);
  end_all(
      lock,
      lanes_.extract(not_cleanup),
      {.outcome = JobOutcome::kDropped,
       .status = {},
       .reason = DropReason::kShutdown});
  return drained;
}

SpillStats SpillQueue::stats(JobClass kind) const {
  const Lock lock(mutex_);
  return classes_[static_cast<size_t>(kind)].stats;
}

SpillStats SpillQueue::stats() const {
  const Lock lock(mutex_);
  SpillStats sum = classes_[0].stats;
  for (size_t i = 1; i < kJobClasses; ++i) {
    sum = sum + classes_[i].stats;
  }
  return sum;
}

size_t SpillQueue::keys() const {
  const Lock lock(mutex_);
  return lanes_.lanes();
}

bool SpillQueue::run_ready(Lock& lock) {
  std::optional<WaitingJob> next = lanes_.take();
  if (!next) {
    return false;
  }
  ++of(next->job.kind).stats.running;
  lock.unlock();
  JobEnd how;
  how.status = run(std::exchange(next->job.work, nullptr));
  how.outcome = how.status.ok() ? JobOutcome::kDone : JobOutcome::kFailed;
  lock.lock();
  --of(next->job.kind).stats.running;
  end(lock, *next, how);
  lanes_.release(next->job.key);
  work_.notify_one(); // for the next of the key
  if (inline_) {
    ended_.notify_all();
    room_.notify_all();
  }
  return true;
}

void SpillQueue::end(Lock& lock, WaitingJob& waiting, const JobEnd& end) {
  Class& its = of(waiting.job.kind);
  --its.stats.pending;
  its.stats.pending_bytes -= waiting.job.bytes;
  switch (end.outcome) {
    case JobOutcome::kDone:
      ++its.stats.done;
      break;
    case JobOutcome::kFailed:
      ++its.stats.failed;
      break;
    case JobOutcome::kCancelled:
      ++its.stats.cancelled;
      break;
    case JobOutcome::kDropped:
      drop(waiting.job.kind, end.reason);
      break;
  }
  room_.notify_all();
  lock.unlock();
  if (waiting.job.ended) {
    waiting.job.ended(end);
    waiting.job.ended = nullptr;
  }
  lock.lock();
  its.unended.erase(waiting.sequence);
  ended_.notify_all();
}

void SpillQueue::write() {
  Lock lock(mutex_);
  for (;;) {
    if (run_ready(lock)) {
      continue;
    }
    if (stop_) {
      return;
    }
    work_.wait(lock);
  }
}

} // namespace holdfast
