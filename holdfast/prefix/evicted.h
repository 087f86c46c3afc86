// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What is still known of state that is gone: when, and by what. A bounded
// memory of keys, the oldest forgotten first; a hint for explanations alone,
// never for what is found. Under the lock of its owner.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

#include "holdfast/base/key_hash.h"

namespace holdfast {

enum class EvictedBy : uint8_t {
  kNobody,
  kRamBudget, // room for other state in RAM
  kReclaim, // room for running rows
  kTimeToLive,
  kForgotten, // asked for
  kDisk, // the disk tier removed it
};

/// In words: "the RAM budget".
const char* words(EvictedBy by);

struct Evicted {
  int64_t wall_ns = 0;
  EvictedBy by = EvictedBy::kNobody;

  explicit operator bool() const {
    return by != EvictedBy::kNobody;
  }
};

class EvictedKeys {
 public:
  explicit EvictedKeys(size_t most) : most_(most) {}

  void add(const Key128& key, Evicted evicted);
  void remove(const Key128& key) {
    known_.erase(key);
  }
  std::optional<Evicted> find(const Key128& key) const;
  bool empty() const {
    return known_.empty();
  }
  size_t size() const {
    return known_.size();
  }

 private:
  size_t most_;
  std::deque<Key128> order_; // with keys that were removed, at most `most_`
  std::unordered_map<Key128, Evicted> known_;
};

} // namespace holdfast
