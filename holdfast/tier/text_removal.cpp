// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/text_removal.h"

#include <algorithm>
#include <utility>

#include "holdfast/base/root_key.h"
#include "holdfast/block/layout.h"
#include "holdfast/tier/record_table.h"

namespace holdfast {

namespace {

/// So many tokens of a block in common are of the text, whatever comes then.
constexpr int64_t kRun = 8;

int64_t common(std::span<const int32_t> a, std::span<const int32_t> b) {
  return std::ranges::mismatch(a, b).in1 - a.begin();
}

/// The end of the longest record that ends in the node; 0 where none does.
int64_t longest_on(Database& database, NodeId leaf) {
  Statement find =
      database.prepare("SELECT max(length) FROM records WHERE leaf = ?");
  return find.bind(leaf.get()).step() ? find.integer(0) : 0; // NULL reads as 0
}

NodeToStore text_of(Database& database, NodeId id) {
  NodeToStore node;
  Statement find =
      database.prepare("SELECT tokens, marks, cost FROM nodes WHERE id = ?");
  if (find.bind(id.get()).step()) {
    node.tokens = unpacked(find.bytes(0));
    node.marks = find.text(1);
    node.cost = find.integer(2);
  }
  return node;
}

std::string_view text_in(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Which the keys of what goes on after that place are chained to.
Key128 key_at(Database& database, const NodePlace& place) {
  if (place.parent == NodeId()) {
    Statement find = database.prepare("SELECT text FROM scopes WHERE id = ?");
    return find.bind(place.scope.get()).step()
        ? root_key(text_in(find.bytes(0)))
        : Key128();
  }
  Statement find = database.prepare("SELECT key FROM nodes WHERE id = ?");
  return find.bind(place.parent.get()).step() ? unpacked_key(find.bytes(0))
                                              : Key128();
}

} // namespace

const std::vector<TextRemoval::Child>& TextRemoval::below(NodeId parent) {
  const auto [at, added] = below_.try_emplace(parent);
  if (added) {
    for (const NodeId id : children_of(database_, parent)) {
      at->second.push_back({id, tokens_of(database_, id)});
    }
  }
  return at->second;
}

void TextRemoval::keep(std::span<const int32_t> text) {
  std::vector<NodeId> ends{NodeId()}; // one for each scope
  for (; !ends.empty() && !text.empty();
       text = text.subspan(std::min<size_t>(kBlockTokens, text.size()))) {
    std::vector<NodeId> next;
    for (const NodeId parent : ends) {
      for (const Child& child : below(parent)) {
        const int64_t same = common(child.tokens, text);
        if (same == std::min(std::ssize(child.tokens), std::ssize(text))) {
          int64_t& needed = kept_[child.id];
          needed = std::max(needed, same);
          if (same == kBlockTokens) {
            next.push_back(child.id);
          }
        }
      }
    }
    ends = std::move(next);
  }
}

void TextRemoval::take(std::span<const int32_t> text) {
  if (text.empty()) {
    return;
  }
  std::vector<NodeId> ends{NodeId()};
  for (int64_t before = 0; !ends.empty(); before += kBlockTokens) {
    const auto rest =
        text.subspan(std::min(static_cast<size_t>(before), text.size()));
    std::vector<NodeId> next;
    for (const NodeId parent : ends) {
      for (const Child& child : below(parent)) {
        const int64_t same = common(child.tokens, rest);
        // With no text left, all that goes on after it.
        if (same >= kRun ||
            same == std::min(std::ssize(child.tokens), std::ssize(rest))) {
          taken_[before].push_back(child.id);
        }
        if (same == kBlockTokens) {
          next.push_back(child.id);
        }
      }
    }
    ends = std::move(next);
  }
}

bool TextRemoval::is_needed_below(NodeId id) {
  // Depth first: what is needed is needed for the sake of a leaf.
  Statement find = database_.prepare(
      "WITH RECURSIVE below(id, depth) AS (SELECT ?, 0 UNION ALL "
      "SELECT n.id, depth + 1 FROM nodes n JOIN below b ON n.parent = b.id "
      "ORDER BY 2 DESC) "
      "SELECT b.id, n.pinned OR EXISTS(SELECT 1 FROM records WHERE "
      "leaf = b.id) FROM below b JOIN nodes n ON n.id = b.id "
      "WHERE depth > 0");
  find.bind(id.get());
  while (find.step()) {
    if (find.integer(1) != 0 || kept_.contains(NodeId(find.integer(0)))) {
      return true;
    }
  }
  return false;
}

int64_t TextRemoval::needed(const NodeRow& node, int64_t before) {
  if (node.pinned || (node.children > 0 && is_needed_below(node.id))) {
    return node.token_count;
  }
  const auto kept = kept_.find(node.id);
  return std::max(
      longest_on(database_, node.id) - before,
      kept == kept_.end() ? int64_t{0} : kept->second);
}

/// Records that end in it go to a node that has their tokens and no state.
void TextRemoval::shorten(
    const NodeRow& node,
    int64_t count,
    Forgotten& forgotten) {
  const std::vector<RecordName> names = records_on(database_, node.id);
  NodeToStore left = text_of(database_, node.id);
  if (!left.marks.empty()) {
    for (const RecordName& name : names) {
      forgotten.rests.push_back({name, node.token_count - count});
    }
    return;
  }
  for (const NodeId child : children_of(database_, node.id)) {
    remove_subtree(database_, child, forgotten.removed);
  }
  if (!names.empty()) {
    left.tokens.resize(static_cast<size_t>(count));
    const NodePlace place{node.scope, node.parent};
    left.key = chained_key(key_at(database_, place), left.tokens);
    NodeId to = find_node(database_, place, left);
    to = to == NodeId() ? add_node(database_, place, left) : to;
    move_records(database_, node.id, to);
  }
  remove_subtree(database_, node.id, forgotten.removed);
  ++forgotten.shortened;
}

void TextRemoval::remove(Forgotten& forgotten) {
  // The last blocks first: what is left below a node is needed, or nobody's.
  for (auto level = taken_.rbegin(); level != taken_.rend(); ++level) {
    for (const NodeId id : level->second) {
      const std::optional<NodeRow> node = find_node(database_, id);
      if (!node) {
        continue; // named twice, or gone with what it hung on
      }
      const int64_t count = needed(*node, level->first);
      if (count == 0) {
        remove_subtree(database_, id, forgotten.removed);
      } else if (count < node->token_count) {
        shorten(*node, count, forgotten);
      }
    }
  }
}

} // namespace holdfast
