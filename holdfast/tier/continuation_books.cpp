// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/continuation_books.h"

#include <algorithm>
#include <utility>

#include "holdfast/base/check.h"

namespace holdfast {

ContinuationBooks::Key& ContinuationBooks::at(const std::string& key) {
  const auto found = keys_.find(key);
  ensure(
      found != keys_.end(),
      "[ContinuationBooks] expected an open key, got another");
  return found->second;
}

void ContinuationBooks::open(
    const std::string& key,
    std::shared_ptr<void> claim) {
  keys_.try_emplace(key).first->second.claim = std::move(claim);
}

ContinuationBooks::Attempt ContinuationBooks::begin(const std::string& key) {
  auto attempt = std::make_shared<ContinuationAttempt>();
  attempt->key = key;
  attempt->id = next_attempt_++;
  at(key).current = attempt;
  return attempt;
}

bool ContinuationBooks::is_current(const ContinuationAttempt& attempt) const {
  const auto found = keys_.find(attempt.key);
  return !attempt.completed && found != keys_.end() &&
      found->second.current.get() == &attempt;
}

uint64_t ContinuationBooks::add_write(ContinuationAttempt& attempt) {
  ++attempt.version;
  ++attempt.pending;
  ++at(attempt.key).jobs;
  ++jobs_;
  return next_barrier_++;
}

void ContinuationBooks::drop_write(ContinuationAttempt& attempt) {
  end_write(attempt, attempt.version, false);
}

void ContinuationBooks::end_write(
    ContinuationAttempt& attempt,
    uint64_t version,
    bool stored) {
  --attempt.pending;
  if (version == attempt.version && is_current(attempt)) {
    attempt.failed = !stored;
  }
  end_job(attempt.key);
}

uint64_t ContinuationBooks::add_cleanup(const std::string& key) {
  Key& its = at(key);
  const uint64_t barrier = next_barrier_++;
  its.cleaning.insert(barrier);
  ++its.jobs;
  ++jobs_;
  return barrier;
}

void ContinuationBooks::end_cleanup(
    const std::string& key,
    uint64_t barrier,
    bool removed) {
  Key& its = at(key);
  its.cleaning.erase(barrier);
  if (removed) {
    its.cleaned = std::max(its.cleaned, barrier);
    its.failed.erase(its.failed.begin(), its.failed.upper_bound(barrier));
  } else {
    fail_cleanup(key, barrier);
  }
  end_job(key);
}

void ContinuationBooks::fail_cleanup(const std::string& key, uint64_t barrier) {
  Key& its = at(key);
  if (barrier > its.cleaned) {
    its.failed.insert(barrier);
  }
}

bool ContinuationBooks::complete(ContinuationAttempt& attempt) {
  const bool due = is_current(attempt);
  attempt.completed = true;
  if (due) {
    at(attempt.key).current.reset();
  }
  return due;
}

void ContinuationBooks::release(ContinuationAttempt& attempt) {
  attempt.released = true;
  settle(attempt.key);
}

void ContinuationBooks::end_job(const std::string& key) {
  --at(key).jobs;
  --jobs_;
  settle(key);
}

void ContinuationBooks::settle(const std::string& key) {
  const auto found = keys_.find(key);
  if (found == keys_.end()) {
    return;
  }
  Key& its = found->second;
  if (its.current && its.current->released && its.current->pending == 0 &&
      !its.current->failed) {
    its.current.reset();
  }
  if (!its.current && its.jobs == 0 && its.failed.empty()) {
    close(found);
  }
}

void ContinuationBooks::close(Keys::iterator at) {
  closing_.insert(at->first);
  settled_.push_back({at->first, std::move(at->second.claim)});
  keys_.erase(at);
}

void ContinuationBooks::clear() {
  while (!keys_.empty()) {
    close(keys_.begin());
  }
}

std::vector<ContinuationBooks::Settled> ContinuationBooks::take_settled() {
  return std::exchange(settled_, {});
}

void ContinuationBooks::end_closing(const std::vector<Settled>& settled) {
  for (const Settled& each : settled) {
    closing_.erase(each.key);
  }
}

bool ContinuationBooks::can_restore(const std::string& key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ||
      (found->second.cleaning.empty() && found->second.failed.empty());
}

bool ContinuationBooks::needs_cleanup(const std::string& key) const {
  const auto found = keys_.find(key);
  return found != keys_.end() && found->second.cleaning.empty() &&
      !found->second.failed.empty();
}

std::vector<std::string> ContinuationBooks::keys_to_clean() const {
  std::vector<std::string> result;
  for (const auto& [key, its] : keys_) {
    if (!its.current && needs_cleanup(key)) {
      result.push_back(key);
    }
  }
  std::ranges::sort(result);
  return result;
}

void ContinuationBooks::count(ContinuationReport& report) const {
  for (const auto& [key, its] : keys_) {
    report.pending_cleanups += static_cast<int64_t>(its.cleaning.size());
    report.failed_cleanups += static_cast<int64_t>(its.failed.size());
    if (its.current) {
      report.pending_writes += its.current->pending;
      report.failed_attempts += its.current->failed ? 1 : 0;
    }
  }
}

} // namespace holdfast
