// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/manifest_check.h"

#include "holdfast/tier/segment_format.h"

namespace holdfast {

namespace {

/// Selects the ids of rows that do not hold; NULL never holds.
struct Check {
  const char* what;
  std::string sql;
};

// As extent_in(), and that it lies in its segment.
const std::string kExtentHolds =
    "typeof(offset) = 'integer' AND offset BETWEEN 4096 AND " +
    std::to_string(kMostBytes) +
    " AND offset % 4096 = 0 AND typeof(bytes) = 'integer' AND "
    "bytes BETWEEN 1 AND " +
    std::to_string(kMostBytes) +
    " AND offset + bytes <= (SELECT 4096 + extents FROM segments "
    "WHERE segments.id = segment)";

const std::string kIdHolds = "id BETWEEN 1 AND " + std::to_string(kMostId - 1);

// What readers go by. Other columns (uses, costs, times) may be any number.
const Check kRowChecks[] = {
    {"a scope",
     "SELECT id FROM scopes WHERE (" + kIdHolds +
         " AND typeof(text) = 'blob') IS NOT 1"},
    {"a segment",
     "SELECT id FROM segments WHERE (" + kIdHolds +
         " AND typeof(bytes) = 'integer' AND bytes <= " +
         std::to_string(kMostBytes) +
         " AND typeof(extents) = 'integer' AND extents >= 0 AND "
         "bytes >= extents + 8192) IS NOT 1"},
    {"a node",
     "SELECT id FROM nodes WHERE (" + kIdHolds +
         " AND (parent IS NULL OR typeof(parent) = 'integer' AND "
         "parent > 0 AND parent < id) AND typeof(key) = 'blob' AND "
         "length(key) = 16 AND typeof(tokens) = 'blob' AND "
         "length(tokens) BETWEEN 4 AND 256 AND length(tokens) % 4 = 0 AND "
         "typeof(marks) = 'blob') IS NOT 1"},
    {"a node behind its parent",
     "SELECT c.id FROM nodes AS c JOIN nodes AS p ON p.id = c.parent "
     "WHERE length(p.tokens) != 256 OR p.scope != c.scope"},
    {"an image of node",
     "SELECT node FROM images WHERE (typeof(layer_group) = 'integer' AND "
     "layer_group BETWEEN 0 AND 2147483647 AND typeof(phase) = 'integer' AND "
     "phase BETWEEN 0 AND 2147483647 AND " +
         kExtentHolds + ") IS NOT 1"},
    {"a record",
     "SELECT id FROM records WHERE (" + kIdHolds +
         " AND typeof(space) = 'blob' AND "
         "typeof(name) = 'blob' AND typeof(length) = 'integer' AND "
         "length >= 0 AND (leaf IS NULL) = (length = 0) AND "
         "(CASE WHEN segment IS NULL THEN bytes = 0 ELSE " +
         kExtentHolds + " END)) IS NOT 1"},
    {"an object",
     "SELECT id FROM objects WHERE (" + kIdHolds +
         " AND typeof(space) = 'blob' AND "
         "typeof(key) = 'blob' AND " +
         kExtentHolds + ") IS NOT 1"},
};

// What segments and nodes count, counted.
const std::string kLive =
    "(SELECT coalesce(sum((bytes + 4095) / 4096 * 4096), 0) FROM ("
    "SELECT bytes FROM images WHERE segment = segments.id UNION ALL "
    "SELECT bytes FROM records WHERE segment = segments.id UNION ALL "
    "SELECT bytes FROM objects WHERE segment = segments.id))";
const std::string kChildren =
    "(SELECT count(*) FROM nodes AS c WHERE c.parent = nodes.id)";
// What was punched no row says: only that it cannot be so much, or such.
const std::string kHolesAreWrong =
    "(typeof(holes) = 'integer' AND holes >= 0 AND "
    "live + holes <= extents) IS NOT 1";

const Check kCounterChecks[] = {
    {"live bytes of a segment",
     "SELECT id FROM segments WHERE live IS NOT " + kLive},
    {"holes of a segment", "SELECT id FROM segments WHERE " + kHolesAreWrong},
    {"children of a node",
     "SELECT id FROM nodes WHERE children IS NOT " + kChildren},
};

} // namespace

void require_row(bool holds, const char* what) {
  if (!holds) [[unlikely]] {
    throw ManifestError(
        ErrorCode::kCorrupt,
        std::string("[manifest] expected ") + what + ", got another row");
  }
}

Extent extent_in(const Statement& row, int column) {
  const int64_t segment = row.integer(column);
  const int64_t offset = row.integer(column + 1);
  const int64_t bytes = row.integer(column + 2);
  require_row(
      offset >= kSegmentPage && offset <= kMostBytes &&
          offset % kSegmentPage == 0 && bytes > 0 && bytes <= kMostBytes,
      "an extent of a segment");
  return {SegmentId(segment), Bytes(offset), Bytes(bytes)};
}

std::string first_row_fault(Database& database) {
  for (const Check& check : kRowChecks) {
    Statement rows = database.prepare(check.sql);
    if (rows.step()) {
      return std::string("the manifest: ") + check.what + ", " +
          std::to_string(rows.integer(0)) + ", cannot be";
    }
  }
  return {};
}

std::vector<std::string> counter_faults(Database& database) {
  std::vector<std::string> faults;
  for (const Check& check : kCounterChecks) {
    Statement rows = database.prepare(check.sql);
    while (rows.step()) {
      faults.push_back(
          std::string("the manifest: ") + check.what + ": row " +
          std::to_string(rows.integer(0)) + " does not agree");
    }
  }
  return faults;
}

void repair_counts(Database& database) {
  ManifestTransaction transaction(database);
  // No more than there is, whatever rows say: they are dropped when they are
  // compared with their segment.
  database.prepare("UPDATE segments SET live = min(extents, " + kLive + ")")
      .run();
  // Too few holes count too many bytes, until the next sweep.
  database.prepare("UPDATE segments SET holes = 0 WHERE " + kHolesAreWrong)
      .run();
  database.prepare("UPDATE nodes SET children = " + kChildren).run();
  transaction.commit();
}

} // namespace holdfast
