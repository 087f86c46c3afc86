// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// TreeCore: scopes, and nodes that come and go.

#include <algorithm>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/prefix/tree_core.h"
#include "holdfast/state/foreign_bits.h"

namespace holdfast {

namespace {

// What containers take beside their elements, at the most: vectors grow to
// twice their size, an allocation has a head of 16 bytes.
constexpr size_t kAllocation = 16;
constexpr size_t kNode = sizeof(Node) + 2 * kAllocation +
    2 * sizeof(void*) + // among the parent's children
    6 * sizeof(void*); // by its id on disk
constexpr size_t kImage = 2 * sizeof(Image) +
    2 * sizeof(void*) + // among the parent's children with such an image
    sizeof(RamBlock) + 6 * sizeof(void*); // its block, by address

} // namespace

TreeCore::TreeCore(TreeOptions given)
    : options(std::move(given)),
      evicted(
          static_cast<size_t>(std::max<int64_t>(0, options.evicted_memory))) {
  expect(
      options.budget >= Bytes(0) && options.clock && options.key_hash,
      "[prefix] expected a budget >= 0, a clock and a key hash, got none");
}

TreeCore::~TreeCore() {
  blocks_.clear();
  if (options.ram) {
    options.ram->give_back(options.budget);
  }
}

ScopeEntry& TreeCore::scope(ScopeHandle handle) {
  expect(
      handle.get() >= 1 && handle.get() <= std::ssize(scopes),
      "[prefix] expected a scope of this tree, got another",
      ErrorCode::kNotFound);
  return scopes[static_cast<size_t>(handle.get() - 1)];
}

ScopeHandle TreeCore::add_scope(const Scope& scope) {
  const auto known = std::ranges::find(scopes, scope, &ScopeEntry::scope);
  if (known != scopes.end()) {
    return ScopeHandle(known - scopes.begin() + 1);
  }
  ScopeEntry& entry = scopes.emplace_back(ScopeEntry{.scope = scope});
  if (const auto foreign = foreign_bits(scope.signature())) {
    entry.least = foreign->least;
  }
  Node& root = nodes_.emplace_back();
  root.index = static_cast<uint32_t>(nodes_.size() - 1);
  root.generation = 1;
  root.scope = &entry;
  root.key = scope.root();
  entry.root = &root;
  recount(root);
  return ScopeHandle(std::ssize(scopes));
}

Bytes TreeCore::record_bytes(const BlockText& text, size_t images) {
  const size_t marks = text.marks.empty() ? 0 : text.marks.size() + kAllocation;
  return Bytes(static_cast<int64_t>(
      kNode + text.tokens.size_bytes() + marks + images * kImage));
}

void TreeCore::recount(Node& node) {
  const Bytes now = record_bytes(node.text(), node.images.size());
  stats.index_bytes += now - node.counted;
  node.counted = now;
}

void TreeCore::changed(Node& node) {
  node.parent->children.refresh(&node);
  recount(node);
}

Node& TreeCore::add_node(Node& parent, const BlockText& text) {
  Node* node = nullptr;
  if (free_.empty()) {
    node = &nodes_.emplace_back();
    node->index = static_cast<uint32_t>(nodes_.size() - 1);
    node->generation = 1;
  } else {
    node = free_.back();
    free_.pop_back();
  }
  node->parent = &parent;
  node->scope = parent.scope;
  node->tokens.assign(text.tokens.begin(), text.tokens.end());
  node->marks = text.marks;
  node->key = options.key_hash(parent.key, text.tokens, text.marks);
  node->block = parent.block + 1;
  node->used = tick;
  parent.children.add(node);
  evicted.remove(node->key);
  ++stats.nodes;
  recount(*node);
  return *node;
}

void TreeCore::free_node(Node& node) {
  Node& parent = *node.parent;
  parent.children.remove(&node);
  add_to_path(&parent, &Node::pins, -node.pins);
  if (node.stored != NodeId(0)) {
    by_id_.erase(node.stored);
  }
  stats.index_bytes -= node.counted;
  --stats.nodes;
  const uint32_t index = node.index;
  const uint32_t generation = node.generation + 1;
  node = Node();
  node.index = index;
  node.generation = generation;
  free_.push_back(&node);
}

void TreeCore::prune(Node* node, EvictedBy by) {
  while (node->parent && !node->any_image() && node->children.empty() &&
         node->writing == 0 && node->leases == 0) {
    Node* parent = node->parent;
    if (node->evicted) {
      evicted.add(node->key, node->evicted);
    } else if (by != EvictedBy::kNobody) {
      evicted.add(node->key, now_evicted(by));
    }
    free_node(*node);
    node = parent;
  }
}

Node* TreeCore::resolve(NodeHandle handle) {
  if (handle.generation == 0 || handle.index >= nodes_.size()) {
    return nullptr;
  }
  Node& node = nodes_[handle.index];
  return node.generation == handle.generation && node.parent ? &node : nullptr;
}

int32_t TreeCore::pins_below(const Node& node) {
  int32_t pins = 0;
  for (const Node* child : node.children.ordered()) {
    pins += child->pins;
  }
  return pins;
}

} // namespace holdfast
