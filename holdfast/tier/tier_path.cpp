// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// DiskTier: a node with all before it.

#include <algorithm>
#include <string>

#include "holdfast/tier/disk_tier_core.h"
#include "holdfast/tier/node_table.h"

namespace holdfast {

namespace {

StoredNode whole_node(Database& database, NodeId id) {
  Statement find = database.prepare(
      "SELECT scope, parent, key, tokens, marks, used_ns, uses, cost, "
      "expires_ns, pinned FROM nodes WHERE id = ?");
  if (!find.bind(id.get()).step()) {
    throw Error(
        ErrorCode::kNotFound,
        "[DiskTier] expected a node of this tier, got " +
            std::to_string(id.get()) + ", which is gone");
  }
  StoredNode node;
  node.id = id;
  node.scope = ScopeId(find.integer(0));
  node.parent = parent_in(find, 1, id);
  node.key = unpacked_key(find.bytes(2));
  node.tokens = unpacked(find.bytes(3));
  node.marks = find.text(4);
  node.used_ns = find.integer(5);
  node.uses = find.integer(6);
  node.cost = find.integer(7);
  node.expires_ns = find.integer(8);
  node.pinned = find.integer(9) != 0;
  node.images = images_of(database, id);
  std::ranges::sort(node.images, {}, &StoredImage::slot);
  return node;
}

} // namespace

Result<std::vector<StoredNode>> DiskTier::path(NodeId leaf) {
  return core_->run([&] {
    std::vector<StoredNode> path;
    for (NodeId id = leaf; id != NodeId(); id = path.back().parent) {
      path.push_back(whole_node(core_->database(), id));
    }
    std::ranges::reverse(path);
    return path;
  });
}

Result<ScopeText> DiskTier::scope_text(ScopeId id) {
  return core_->run([&] {
    Statement find =
        core_->database().prepare("SELECT text FROM scopes WHERE id = ?");
    if (!find.bind(id.get()).step()) {
      throw Error(
          ErrorCode::kNotFound,
          "[DiskTier] expected a scope of this tier, got " +
              std::to_string(id.get()));
    }
    return ScopeText{find.text(0)};
  });
}

} // namespace holdfast
