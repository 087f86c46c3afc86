// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/tree_loader.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace holdfast {

namespace {

class Loader : public TierVisitor {
 public:
  explicit Loader(PrefixTree& tree) : tree_(tree) {}

  void begin() override {
    scopes_.clear();
    seen_.clear();
  }
  void scope(ScopeId id, const ScopeText& text) override {
    // A scope that cannot be read is one that nothing here is found under.
    if (const auto handle = tree_.open_stored(text.text); handle.ok()) {
      scopes_.emplace(id, handle.value());
    }
  }
  void node(StoredNode node) override {
    seen_.insert(node.id);
    if (const auto found = scopes_.find(node.scope); found != scopes_.end()) {
      (void)tree_.add_stored(found->second, node).ok();
    }
  }
  void record(StoredRecord) override {}

  bool saw(NodeId id) const {
    return seen_.contains(id);
  }

 private:
  PrefixTree& tree_;
  std::unordered_map<ScopeId, ScopeHandle> scopes_;
  std::unordered_set<NodeId> seen_;
};

} // namespace

Status load_tree(PrefixTree& tree, DiskTier& disk) {
  // What is stored from here on is not missed below.
  std::vector<NodeId> known = tree.stored_nodes();
  Loader loader(tree);
  Status status = disk.load(loader);
  if (status.ok()) {
    std::erase_if(known, [&](NodeId id) { return loader.saw(id); });
    tree.removed(known);
  }
  return status;
}

Status load_tree_changes(PrefixTree& tree, DiskTier& disk) {
  Loader loader(tree);
  const Result<Loaded> loaded = disk.load_changes(loader);
  // Another manifest: what was known of the former one has to go.
  return loaded.ok() && loaded.value() == Loaded::kAll ? load_tree(tree, disk)
                                                       : loaded.status();
}

} // namespace holdfast
