// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The id under which a disk tier knows a scope. It is another one in a manifest
// that took the place of one that was set aside, so a store that misses its
// scope asks again. Internal to prefix/.
//
// Threads: any.

#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "holdfast/tier/disk_tier.h"

namespace holdfast {

class StoredScope {
 public:
  /// Throws what the tier says. The tier outlives this.
  StoredScope(DiskTier& disk, ScopeText text)
      : disk_(disk), text_(std::move(text)) {
    renew().check();
  }

  ScopeId id() const {
    return ScopeId(id_.load());
  }
  /// The tier's own id of now.
  Status renew() {
    const Result<ScopeId> found = disk_.scope(text_);
    if (found.ok()) {
      id_ = found.value().get();
    }
    return found.status();
  }

 private:
  DiskTier& disk_;
  const ScopeText text_;
  std::atomic<int64_t> id_{0};
};

} // namespace holdfast
