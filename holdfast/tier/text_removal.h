// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to DiskTier: takes texts out of the tree of nodes, as far as nothing
// that stays needs them. In one access and one transaction: all texts that stay
// are named first, then those that go, then remove() is called once.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "holdfast/tier/forget_request.h"
#include "holdfast/tier/node_table.h"
#include "holdfast/tier/statement.h"

namespace holdfast {

class TextRemoval {
 public:
  explicit TextRemoval(Database& database) : database_(database) {}

  void keep(std::span<const int32_t> text);
  void take(std::span<const int32_t> text);
  void remove(Forgotten& forgotten);
  /// Whether a text that is kept needs something of the node.
  bool keeps(NodeId id) const {
    return kept_.contains(id);
  }

 private:
  struct Child {
    NodeId id;
    std::vector<int32_t> tokens;
  };
  const std::vector<Child>& below(NodeId parent);
  /// Tokens of the node, from its first on, that something needs.
  int64_t needed(const NodeRow& node, int64_t before);
  bool is_needed_below(NodeId id);
  void shorten(const NodeRow& node, int64_t count, Forgotten& forgotten);

  Database& database_;
  std::unordered_map<NodeId, std::vector<Child>> below_;
  std::unordered_map<NodeId, int64_t> kept_; // leading tokens
  std::map<int64_t, std::vector<NodeId>> taken_; // by the tokens before them
};

} // namespace holdfast
