// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to DiskTier: records whose time is over. One that is pinned, or that
// somebody has claimed (an open chat), is there until it no longer is. Threads:
// one at a time, in an access, which it does not outlive.

#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "holdfast/tier/disk_tier_core.h"
#include "holdfast/tier/record_claims.h"
#include "holdfast/tier/record_table.h"

namespace holdfast {

class OverRecords {
 public:
  explicit OverRecords(DiskTierCore& core)
      : core_(core), now_(core.options.clock->wall_ns()) {}

  bool contains(const StoredRecord& record) {
    return is_over(record, now_) && !is_claimed(record.name);
  }
  std::vector<RecordName> all() {
    std::vector<RecordName> names = records_over(core_.database(), now_);
    std::erase_if(
        names, [&](const RecordName& name) { return is_claimed(name); });
    return names;
  }

 private:
  /// Looks at the claims once, and only where some record's time is over.
  bool is_claimed(const RecordName& name) {
    if (!claimed_) {
      claimed_ = core_.claimed();
    }
    return holdfast::is_claimed(name, *claimed_);
  }

  DiskTierCore& core_;
  const int64_t now_;
  std::optional<std::set<std::string>> claimed_;
};

} // namespace holdfast
