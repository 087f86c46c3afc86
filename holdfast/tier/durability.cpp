// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/durability.h"

#include <exception>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/tier/durability_run.h"

namespace holdfast {

namespace {

std::string lane_of(uint64_t id) {
  return "record:" + std::to_string(id);
}

StoreOutcome outcome_of(const JobEnd& end) {
  switch (end.outcome) {
    case JobOutcome::kDone:
      return StoreOutcome::kStored;
    case JobOutcome::kFailed:
      return StoreOutcome::kFailed;
    case JobOutcome::kDropped:
    case JobOutcome::kCancelled:
      return StoreOutcome::kNotTried;
  }
  return StoreOutcome::kFailed;
}

} // namespace

Durability::Durability(
    SpillQueue& queue,
    RecordSource& source,
    RecordStore& store,
    DurabilityOptions options)
    : queue_(queue),
      source_(source),
      store_(store),
      options_(std::move(options)),
      records_(
          {.debounce = options_.debounce,
           .max_delay = options_.max_delay,
           .retry = options_.retry}) {
  expect(options_.clock != nullptr, "[Durability] expected a clock, got none");
  constexpr Clock::Duration kNone{};
  expect(
      options_.debounce >= kNone && options_.max_delay >= kNone &&
          options_.retry >= kNone,
      "[Durability] expected times >= 0, got less");
  if (options_.background) {
    thread_ = std::thread([this] { work(); });
  }
}

Durability::~Durability() {
  Lock lock(mutex_);
  closing_ = true;
  wake_.notify_all();
  lock.unlock();
  queue_.wake();
  if (thread_.joinable()) {
    thread_.join();
  }
  lock.lock();
  cancel_waiting(lock);
  await(lock, std::nullopt, [&] { return flying_.empty(); });
}

uint64_t Durability::put(const RecordKey& key, PutOptions options) {
  return put(key, options, true);
}

uint64_t Durability::put_if_clean(const RecordKey& key, PutOptions options) {
  return put(key, options, false);
}

uint64_t
Durability::put(const RecordKey& key, PutOptions options, bool replace) {
  expect(
      key.tokens != nullptr,
      "[Durability] expected a key with a token list, got none");
  if (key.tokens->empty() && !options.attachments) {
    return 0;
  }
  const Clock::Moment now = options_.clock->now();
  const Lock lock(mutex_);
  const uint64_t version = records_.put(key, now, replace);
  if (version != 0 && !closing_) {
    wake_.notify_one();
  }
  return version;
}

void Durability::forget(const RecordKey& key) {
  expect(
      key.tokens != nullptr,
      "[Durability] expected a key with a token list, got none");
  Lock lock(mutex_);
  const uint64_t id = records_.forget(key);
  if (id == 0) {
    return;
  }
  if (running_) {
    running_->forget(id);
  }
  lock.unlock();
  queue_.cancel_key(
      lane_of(id), [&](const SpillJob& job) { return job.owner == this; });
  lock.lock();
  await(lock, std::nullopt, [&] { return !flying_.contains(id); });
}

void Durability::work() {
  for (;;) {
    const std::optional<Clock::Moment> next = poll();
    Lock lock(mutex_);
    if (closing_) {
      return;
    }
    const auto earliest = records_.earliest();
    if (earliest != next) {
      continue; // a put came in between
    }
    if (next) {
      options_.clock->wait_until(lock, wake_, *next);
    } else {
      wake_.wait(lock);
    }
  }
}

std::optional<Clock::Moment> Durability::poll() {
  Lock lock(mutex_);
  while (!closing_) {
    DirtyRecords::Record* due = records_.next_due(options_.clock->now());
    if (!due) {
      return records_.earliest();
    }
    const Flight flight = begin(*due);
    lock.unlock();
    carry_out(flight, {.until = {}, .stop = &closing_});
    lock.lock();
  }
  return std::nullopt;
}

Flight Durability::begin(DirtyRecords::Record& record) {
  Flight flight = records_.begin_flight(record);
  flying_.insert(flight.id);
  return flight;
}

void Durability::carry_out(const Flight& flight, const RoomWait& wait) {
  std::shared_ptr<const RecordContent> content;
  Status failed;
  if (const auto outcome = prepare(flight, content, failed)) {
    settle(flight, *outcome, false, failed);
    return;
  }
  if (queue_.submit_waiting(job(flight, std::move(content)), wait) !=
      Admission::kAdmitted) {
    settle(flight, StoreOutcome::kNotTried, false);
  }
}

std::optional<StoreOutcome> Durability::prepare(
    const Flight& flight,
    std::shared_ptr<const RecordContent>& content,
    Status& failed) {
  try {
    if (store_.is_durable(flight.key, flight.version)) {
      return StoreOutcome::kStored;
    }
    auto made = source_.make(flight.key);
    if (made.ok() && made.value()) {
      content = std::move(made).value();
      return std::nullopt;
    }
    if (made.status().code() == ErrorCode::kNotFound) {
      const bool written = store_.is_durable(flight.key, flight.version) ||
          store_.is_covered(flight.key);
      return written ? StoreOutcome::kStored : StoreOutcome::kMissing;
    }
    failed = made.status();
  } catch (const std::exception& error) {
    failed = Status(ErrorCode::kInternal, error.what());
  }
  const Lock lock(mutex_);
  ++failed_before_queue_;
  return StoreOutcome::kFailed;
}

SpillJob Durability::job(
    const Flight& flight,
    std::shared_ptr<const RecordContent> content) {
  SpillJob job;
  job.kind = JobClass::kSpill;
  job.key = lane_of(flight.id);
  job.owner = this;
  job.tag = flight.version;
  job.bytes = content->bytes();
  const auto missing = std::make_shared<bool>(false);
  job.work = [this, flight, missing, content = std::move(content)] {
    Status status = store_.store(flight.key, flight.version, *content);
    // Its state may have gone while it waited, as it may before prepare().
    *missing = status.code() == ErrorCode::kNotFound &&
        source_.make(flight.key).status().code() == ErrorCode::kNotFound;
    return *missing ? Status() : status;
  };
  job.ended = [this, flight, missing](const JobEnd& end) {
    const auto outcome = *missing ? StoreOutcome::kMissing : outcome_of(end);
    settle(flight, outcome, outcome == StoreOutcome::kStored, end.status);
  };
  return job;
}

void Durability::settle(
    const Flight& flight,
    StoreOutcome outcome,
    bool written,
    const Status& failed) {
  Lock lock(mutex_);
  if (outcome == StoreOutcome::kFailed) {
    failure_ = failed.text();
  }
  records_.end_flight(flight, outcome, options_.clock->now());
  if (written && options_.stored) {
    lock.unlock();
    options_.stored(flight.key);
    lock.lock();
  }
  flying_.erase(flying_.find(flight.id));
  // Under the lock: who waits may destroy this as soon as he sees it.
  wake_.notify_one();
  settled_.notify_all();
}

bool Durability::await(
    Lock& lock,
    const Deadline& until,
    const std::function<bool()>& done) {
  while (!done()) {
    if (until && options_.clock->now() >= *until) {
      return false;
    }
    if (queue_.is_inline()) {
      lock.unlock();
      const bool ran = queue_.run_one();
      lock.lock();
      if (ran) {
        continue;
      }
    }
    if (done()) {
      break; // another thread's doing, while the lock was open
    }
    if (until) {
      options_.clock->wait_until(lock, settled_, *until);
    } else {
      settled_.wait(lock);
    }
  }
  return true;
}

DurabilityStats Durability::stats() const {
  const SpillStats spills = queue_.stats(JobClass::kSpill);
  const Lock lock(mutex_);
  return {
      .pending_records = records_.size(),
      .token_bytes = records_.token_bytes(),
      .pending_writes = spills.pending,
      .pending_bytes = spills.pending_bytes,
      .dropped = spills.dropped(),
      .failed = spills.failed + failed_before_queue_};
}

} // namespace holdfast
