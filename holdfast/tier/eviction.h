// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to DiskTier: what goes first. Expired before the rest; then nodes
// and objects by age x bytes / cost, where the age counts uses of the tier
// since, not time, so that a clock that jumps changes nothing; last, the oldest
// first, bodies of records that stand for no node: nothing makes them again.
// Never what is pinned, mapped, worked on or built on; never a parent before
// its children. Threads: one at a time.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "holdfast/base/strong.h"
#include "holdfast/tier/node_table.h"
#include "holdfast/tier/object_table.h"
#include "holdfast/tier/statement.h"

namespace holdfast {

/// What may not go.
struct Untouchable {
  std::set<SegmentId> segments; // mapped
  std::set<NodeId> nodes; // a store builds on them
  std::set<std::string> claimed; // KeyClaims::claimed(), of records
};

struct Victim {
  std::optional<NodeRow> node;
  std::optional<RecordName> record; // without a node
  ObjectRow object; // counts where there is neither
  std::vector<Extent> extents; // that nothing names once it is gone
  Bytes bytes; // their whole pages
};

class EvictionOrder {
 public:
  EvictionOrder(
      Database& database,
      const Untouchable& untouchable,
      int64_t tick,
      int64_t wall_ns);

  /// The next to go, or nothing. A node's parent may follow it.
  std::optional<Victim> next();
  /// True where the next one expired.
  bool next_expired() const {
    return !waiting_.empty() && waiting_.top().expired;
  }

 private:
  struct Candidate {
    bool expired = false;
    bool last = false;
    double score = 0; // the highest goes first
    int64_t tick = 0; // then the oldest
    Victim victim;
    bool operator<(const Candidate& other) const;
  };
  void consider_leaf(const NodeRow& node);
  void consider_object(const ObjectRow& object);
  void consider_bodies_alone();
  Candidate
  scored(Victim victim, int64_t tick, int64_t cost, int64_t expires) const;

  Database& database_;
  const Untouchable& untouchable_;
  const int64_t tick_;
  const int64_t wall_ns_;
  std::priority_queue<Candidate> waiting_;
  std::map<NodeId, int64_t> gone_children_; // [parent]
};

} // namespace holdfast
