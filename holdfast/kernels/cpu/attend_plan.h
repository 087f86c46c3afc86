// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// How one layer's attention is cut into units of work. The cut follows the
// load, the number of threads and what rows share, and never a result's bits:
// blocks and splits lie at absolute positions, and are folded in order however
// they are read.
// Values; any thread.

#pragma once

#include <cstdint>
#include <vector>

#include "holdfast/kernels/cpu/attend.h"
#include "holdfast/kernels/cpu/attend_share.h"
#include "holdfast/kernels/cpu/attend_visible.h"

namespace holdfast::cpu {

/// Query rows [first, first + rows) of a row of the batch. Query row i is token
/// i / heads, query head i % heads of the group.
struct AttendQueries {
  int64_t row = 0;
  int64_t first = 0;
  int64_t rows = 0;
};

/// Query rows that read some splits of one key-value head together: of one row
/// of the batch, or of several that share the splits.
struct AttendUnit {
  int64_t kv_head = 0;
  int64_t queries = 0; // the first in AttendPlan::queries
  int64_t members = 1; // how many of those, one a row of the batch
  int64_t rows = 0; // of all of them
  /// The unit that reads the splits before for these query rows and others, at
  /// parent_row there; -1: nothing comes before.
  int64_t parent = -1;
  int64_t parent_row = 0;
  VisibleBlocks blocks; // as the first member sees them, no member more
  VisibleSplits splits;
};

/// Units of neighbouring heads, whole or some of their splits, which one thread
/// reads split by split: their planes lie side by side in an image.
struct AttendItem {
  int64_t unit = 0; // the first
  int64_t units = 1;
  int64_t first = -1; // of the units' splits; -1: all
  int64_t splits = 0;
  int64_t cost = 0; // blocks times groups of rows
};

constexpr int64_t kItemUnits = 8; // at most

/// Items that may run at the same time, after all of the rounds before.
struct AttendRound {
  int64_t begin = 0; // of the items, dearest first
  int64_t end = 0;
  int64_t cost = 0;
};

struct AttendPlan {
  std::vector<AttendQueries> queries;
  /// First those of several rows, parents before children; the others finish
  /// query rows.
  std::vector<AttendUnit> units;
  int64_t shared_units = 0;
  std::vector<AttendItem> items;
  /// The first of what rows share, which must have been read before what is
  /// their own; where partials are bounded, there may be several of both.
  std::vector<AttendRound> rounds;
  /// Units are folded round by round, those of several rows with all that comes
  /// before them; else these keep a partial for each split that was shared out.
  bool folded = false;

  bool shared(int64_t unit) const {
    return unit < shared_units;
  }
};

/// Floats of the partials that a call keeps at a time: 64 MiB.
constexpr int64_t kKeptFloats = int64_t{16} << 20;

/// What a plan follows from besides rows and blocks: layers that agree in it
/// have the same.
struct AttendCut {
  int64_t query_heads = 0;
  int64_t kv_heads = 0;
  Visibility visibility = {};
  int64_t head_bytes = 0; // of one head in one image
  int threads = 1;
  int64_t value_dim = 0;
  int64_t kept_floats = kKeptFloats;
  bool operator==(const AttendCut&) const = default;
};
/// Of a job's spec and codecs.
AttendCut attend_cut(const AttendJob& job, int threads);

/// Of a job's rows and blocks; without blocks rows share nothing.
AttendPlan plan_attend(const AttendJob& job, const AttendCut& cut);

} // namespace holdfast::cpu
