// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/evicted.h"

namespace holdfast {

const char* words(EvictedBy by) {
  switch (by) {
    case EvictedBy::kRamBudget:
      return "the RAM budget";
    case EvictedBy::kReclaim:
      return "the room that running rows asked for";
    case EvictedBy::kTimeToLive:
      return "its time to live";
    case EvictedBy::kForgotten:
      return "a request to forget it";
    case EvictedBy::kDisk:
      return "the disk tier";
    case EvictedBy::kNobody:
      break;
  }
  return "nobody";
}

void EvictedKeys::add(const Key128& key, Evicted evicted) {
  if (most_ == 0) {
    return;
  }
  if (order_.size() == most_) {
    known_.erase(order_.front());
    order_.pop_front();
  }
  order_.push_back(key);
  known_[key] = evicted;
}

std::optional<Evicted> EvictedKeys::find(const Key128& key) const {
  const auto found = known_.find(key);
  if (found == known_.end()) {
    return std::nullopt;
  }
  return found->second;
}

} // namespace holdfast
