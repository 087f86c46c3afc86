// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/continuations.h"

#include <utility>

#include "holdfast/tier/continuation_core.h"

namespace holdfast {

Continuation::Continuation(
    std::shared_ptr<ContinuationCore> core,
    std::shared_ptr<ContinuationAttempt> attempt)
    : core_(std::move(core)), attempt_(std::move(attempt)) {}

Continuation& Continuation::operator=(Continuation&& other) noexcept {
  if (this != &other) {
    release();
    core_ = std::move(other.core_);
    attempt_ = std::move(other.attempt_);
  }
  return *this;
}

Continuation::~Continuation() {
  release();
}

void Continuation::release() {
  if (core_) {
    core_->release(attempt_);
  }
}

Enqueued Continuation::checkpoint(Checkpoint checkpoint) {
  return core_->checkpoint(attempt_, std::move(checkpoint));
}

void Continuation::complete() {
  core_->complete(attempt_);
}

bool Continuation::current() const {
  return core_->is_current(attempt_);
}

Continuations::Continuations(
    SpillQueue& queue,
    CheckpointStore& store,
    std::shared_ptr<Clock> clock)
    : core_(
          std::make_shared<ContinuationCore>(queue, store, std::move(clock))) {}

Continuations::~Continuations() {
  core_->close();
}

Result<Continuation> Continuations::begin(const std::string& key) {
  auto attempt = core_->begin(key);
  if (!attempt.ok()) {
    return attempt.status();
  }
  return Continuation(core_, std::move(attempt).value());
}

bool Continuations::can_restore(const std::string& key) const {
  return core_->can_restore(key);
}

ContinuationReport Continuations::flush(std::optional<Clock::Moment> until) {
  return core_->flush(until);
}

ContinuationStats Continuations::stats() const {
  return core_->stats();
}

} // namespace holdfast
