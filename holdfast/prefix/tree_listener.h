// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Tells a tree what its disk tier loses, as soon as it does. Internal to
// prefix/. Threads: any; a call takes the tree's lock within the tier's, so
// nobody calls the tier under the tree's.

#pragma once

#include <memory>

#include "holdfast/prefix/prefix_tree.h"
#include "holdfast/tier/disk_tier.h"

namespace holdfast {

class TreeListener : public TierListener {
 public:
  /// Both outlive this.
  TreeListener(PrefixTree& tree, DiskTier& disk)
      : tree_(tree), listening_(disk.listen(*this)) {}
  TreeListener(const TreeListener&) = delete;
  TreeListener& operator=(const TreeListener&) = delete;

  void removed(const Removed& removed) override {
    tree_.removed(removed.nodes);
  }
  void lost(const Lost& lost) override {
    tree_.lost(lost.images);
    tree_.removed(lost.nodes);
  }
  void set_aside() override {
    tree_.removed(tree_.stored_nodes());
  }

 private:
  PrefixTree& tree_;
  std::shared_ptr<const void> listening_; // ends first
};

} // namespace holdfast
