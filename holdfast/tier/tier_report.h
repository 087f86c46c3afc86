// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a disk tier says of itself. Values; any thread.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/base/strong.h"
#include "holdfast/tier/ids.h"

namespace holdfast {

/// A file of the folder that is no live part of it.
struct TierFinding {
  enum class Action {
    kRemoved, // a leftover of ours
    kSetAside, // renamed; counts in the cap, evictable
    kCounted, // counts in the cap; evictable where the name is one of ours
    kDropped, // the manifest no longer names it
    kNoted, // nothing was done
  };
  std::string file; // name in the folder
  Bytes bytes;
  Action action = Action::kNoted;
  std::string reason; // one line
};

/// What was found since the tier was opened, the oldest first.
struct TierReport {
  std::vector<TierFinding> findings;
  int64_t removed = 0; // leftovers
  int64_t foreign = 0; // files that are counted
  int64_t corrupt_images = 0; // dropped by map() and verify()
};

struct TierKindStats {
  int64_t count = 0;
  Bytes bytes;
};

struct TierStats {
  TierKindStats images;
  TierKindStats bodies; // of records
  TierKindStats objects;
  int64_t scopes = 0;
  int64_t nodes = 0;
  int64_t records = 0;
  int64_t segments = 0;
  int64_t tokens = 0; // of the nodes
  /// Stored by all processes of all times; what took the place of a tail counts
  /// what it has more.
  int64_t tokens_total = 0;
  int64_t tokens_served = 0; // by touch(), of all processes of all times
  Bytes live; // images, bodies and objects, whole pages
  Bytes dead; // in segments, named by nothing, not yet given back
  Bytes foreign; // files of other formats, and set aside
  Bytes manifest; // its file and journal
  Bytes used; // everything in the folder: what max_bytes bounds
  Bytes max_bytes;
  Bytes written_total; // segments and manifest, by all processes of all times
  Bytes written_today; // UTC
  Bytes daily_limit; // 0: none
  int64_t leases = 0; // segments that an open tier has mapped
};

/// What verify() read.
struct VerifyReport {
  int64_t segments = 0;
  int64_t extents = 0;
  Bytes bytes;
  std::vector<std::string> faults; // one line each; empty: all is well
  std::vector<Extent> dropped;
};

} // namespace holdfast
