// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/spill_lanes.h"

#include <utility>

#include "holdfast/base/check.h"

namespace holdfast {

void SpillLanes::push(WaitingJob waiting) {
  Lane& lane = lanes_[waiting.job.key];
  lane.waiting.push_back(std::move(waiting));
  list(lane);
}

std::optional<WaitingJob> SpillLanes::take() {
  for (size_t i = 0; i < kJobClasses; ++i) {
    const size_t kind = (turn_ + i) % kJobClasses;
    if (ready_[kind].empty()) {
      continue;
    }
    turn_ = (kind + 1) % kJobClasses;
    Lane& lane = *ready_[kind].front();
    unlist(lane);
    lane.held = true;
    WaitingJob result = std::move(lane.waiting.front());
    lane.waiting.pop_front();
    return result;
  }
  return std::nullopt;
}

void SpillLanes::release(const std::string& key) {
  const auto at = lanes_.find(key);
  ensure(
      at != lanes_.end() && at->second.held,
      "[SpillLanes] expected the key of a running job, got another");
  at->second.held = false;
  settle(at);
}

SpillLanes::Jobs SpillLanes::extract(const Predicate& wanted) {
  Jobs result;
  for (auto at = lanes_.begin(); at != lanes_.end();) {
    move_wanted(at->second, wanted, result);
    at = settle(at);
  }
  result.sort([](const WaitingJob& a, const WaitingJob& b) {
    return a.sequence < b.sequence;
  });
  return result;
}

SpillLanes::Jobs
SpillLanes::extract(const std::string& key, const Predicate& wanted) {
  Jobs result;
  const auto at = lanes_.find(key);
  if (at != lanes_.end()) {
    move_wanted(at->second, wanted, result);
    settle(at);
  }
  return result;
}

void SpillLanes::move_wanted(Lane& lane, const Predicate& wanted, Jobs& out) {
  for (auto at = lane.waiting.begin(); at != lane.waiting.end();) {
    const auto next = std::next(at);
    if (wanted(at->job)) {
      out.splice(out.end(), lane.waiting, at);
    }
    at = next;
  }
}

SpillLanes::Map::iterator SpillLanes::settle(Map::iterator at) {
  Lane& lane = at->second;
  if (lane.held) {
    return std::next(at);
  }
  if (lane.waiting.empty()) {
    unlist(lane);
    return lanes_.erase(at);
  }
  list(lane);
  return std::next(at);
}

void SpillLanes::list(Lane& lane) {
  if (lane.held) {
    return;
  }
  const auto kind = static_cast<size_t>(lane.waiting.front().job.kind);
  if (lane.listed == kind) {
    return;
  }
  unlist(lane);
  lane.place = ready_[kind].insert(ready_[kind].end(), &lane);
  lane.listed = kind;
}

void SpillLanes::unlist(Lane& lane) {
  if (lane.listed) {
    ready_[*lane.listed].erase(lane.place);
    lane.listed.reset();
  }
}

} // namespace holdfast
