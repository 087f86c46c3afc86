// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to DiskTier: the tokens behind a record, and the records that are
// its beginnings. In an access.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/tier/batch.h"
#include "holdfast/tier/ids.h"
#include "holdfast/tier/statement.h"
#include "holdfast/tier/stored.h"

namespace holdfast {

/// Tokens and marks of the nodes from the root to `leaf`.
struct NodePath {
  struct Run {
    NodeId parent;
    std::vector<int32_t> tokens;
    std::string marks;
    Key128 key;
  };
  std::vector<Run> runs; // [block]
};
NodePath path_to(Database& database, NodeId leaf);

/// Other records of the same space and scope, not pinned, whose tokens the
/// record's begin with.
std::vector<RecordName>
prefix_records(Database& database, const StoredRecord& record);

} // namespace holdfast
