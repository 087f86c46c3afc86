// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to DiskTier: nodes that a store builds on, kept from eviction while
// this lives. Threads: one at a time.

#pragma once

#include <mutex>
#include <vector>

#include "holdfast/tier/disk_tier_core.h"

namespace holdfast {

class HeldNodes {
 public:
  explicit HeldNodes(DiskTierCore& core) : core_(core) {}
  ~HeldNodes() {
    const std::lock_guard lock(core_.mutex);
    clear();
  }
  HeldNodes(const HeldNodes&) = delete;
  HeldNodes& operator=(const HeldNodes&) = delete;

  // In an access.
  void add(NodeId id) {
    if (id != NodeId()) {
      core_.in_store.insert(id);
      ids_.push_back(id);
    }
  }
  void clear() {
    for (const NodeId id : ids_) {
      core_.in_store.erase(core_.in_store.find(id));
    }
    ids_.clear();
  }

 private:
  DiskTierCore& core_;
  std::vector<NodeId> ids_;
};

} // namespace holdfast
