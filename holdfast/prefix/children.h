// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to prefix/: the children of one node, in the order of compare() over
// their tokens and marks. Nothing here is found by a hash. What has the longest
// common run with a text is next to it in that order, so that thousands of
// children cost a binary search; from kMany of them on the ones that have an
// image in a slot are kept in order as well, for the same question about a
// slot. Under the lock of their tree.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "holdfast/prefix/path.h"
#include "holdfast/tier/ids.h"

namespace holdfast {

struct Node;

class Children {
 public:
  static constexpr size_t kMany = 16;

  /// A child and how many leading positions it has in common with a text.
  struct Match {
    Node* node = nullptr;
    int64_t run = 0;
  };

  bool empty() const {
    return ordered_.empty();
  }
  const std::vector<Node*>& ordered() const {
    return ordered_;
  }
  /// The one child, as most have; null where there are others, or none.
  Node* only() const {
    return only_;
  }
  /// The child of exactly this text, or null.
  Node* find(const BlockText& text) const;
  /// The child with the longest common run; none where no position agrees.
  Match longest(const BlockText& text) const;
  /// The same among those that have the slot's image.
  Match longest(const BlockText& text, ImageSlot slot) const;
  /// Those that the text begins with, other than a child of the text itself;
  /// the longest first.
  std::vector<Node*> prefixes(const BlockText& text) const;

  void add(Node* child);
  void remove(Node* child);
  /// Says that the child's images changed.
  void refresh(Node* child);

 private:
  void set_only();

  using Order = std::vector<Node*>;
  Node* only_ = nullptr; // beside the node: its list lies elsewhere
  std::vector<Node*> ordered_;
  std::unique_ptr<std::map<ImageSlot, Order>> by_slot_; // of many
};

} // namespace holdfast
