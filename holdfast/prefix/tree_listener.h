// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Tells a tree what its disk tier loses, as soon as it does. Internal to
// prefix/. Threads: any; a call takes the tree's lock within the tier's, so
// nobody calls the tier under the tree's.

#pragma once

#include <atomic>
#include <cstdint>
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
    ++calls_;
    tree_.removed(removed.nodes);
  }
  void lost(const Lost& lost) override {
    ++calls_;
    tree_.lost(lost);
    tree_.removed(lost.nodes);
  }
  void set_aside() override {
    ++calls_;
    tree_.removed(tree_.stored_nodes());
  }
  /// How often the disk lost something.
  int64_t calls() const {
    return calls_;
  }

 private:
  PrefixTree& tree_;
  std::atomic<int64_t> calls_{0};
  std::shared_ptr<const void> listening_; // ends first
};

} // namespace holdfast
