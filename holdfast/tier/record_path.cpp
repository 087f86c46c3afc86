// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/record_path.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "holdfast/block/layout.h"
#include "holdfast/tier/manifest_check.h"
#include "holdfast/tier/node_table.h"
#include "holdfast/tier/record_table.h"

namespace holdfast {

namespace {

/// A record whose leaf is a child of a path's node.
struct Candidate {
  RecordName name;
  NodeId leaf;
  int64_t length = 0;
};

/// Unpinned records of the space on children of a node, the root included.
std::vector<Candidate>
records_below(Database& database, const StoredRecord& record, NodeId parent) {
  Statement find = database.prepare(
      "SELECT r.name, r.leaf, r.length FROM nodes n "
      "JOIN records r ON r.leaf = n.id "
      "WHERE n.parent IS nullif(?, 0) AND n.scope = ? AND r.space = ? "
      "AND r.pinned = 0 AND r.length <= ?");
  find.bind(parent.get())
      .bind(record.scope.get())
      .bind(bytes_of_text(record.name.space))
      .bind(record.length.get());
  std::vector<Candidate> found;
  while (find.step()) {
    found.push_back(
        {{record.name.space, find.text(0)},
         NodeId(find.integer(1)),
         find.integer(2)});
  }
  return found;
}

NodePath::Run run_of(Database& database, NodeId id) {
  Statement find = database.prepare(
      "SELECT parent, tokens, marks, key FROM nodes WHERE id = ?");
  require_row(find.bind(id.get()).step(), "whole paths");
  return {
      parent_in(find, 0, id),
      unpacked(find.bytes(1)),
      find.text(2),
      unpacked_key(find.bytes(3))};
}

} // namespace

NodePath path_to(Database& database, NodeId leaf) {
  NodePath path;
  for (NodeId id = leaf; id != NodeId();) {
    path.runs.push_back(run_of(database, id));
    id = path.runs.back().parent;
  }
  std::ranges::reverse(path.runs);
  return path;
}

std::vector<RecordName>
prefix_records(Database& database, const StoredRecord& record) {
  std::vector<RecordName> result;
  const NodePath path = path_to(database, record.leaf);
  int64_t before = 0; // tokens of the blocks above
  for (const NodePath::Run& run : path.runs) {
    for (const Candidate& other : records_below(database, record, run.parent)) {
      const NodePath::Run leaf = run_of(database, other.leaf);
      const auto count = static_cast<size_t>(other.length - before);
      // Marks are opaque: those of a leaf that goes on must be ours as well.
      if (other.name != record.name && count <= leaf.tokens.size() &&
          count <= run.tokens.size() &&
          std::equal(
              leaf.tokens.begin(),
              leaf.tokens.begin() + static_cast<std::ptrdiff_t>(count),
              run.tokens.begin()) &&
          run.marks.starts_with(leaf.marks)) {
        result.push_back(other.name);
      }
    }
    before += std::ssize(run.tokens);
  }
  return result;
}

} // namespace holdfast
