// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// PrefixTree: its budget, its own or its part of a shared one.

#include "holdfast/base/check.h"
#include "holdfast/prefix/prefix_tree.h"
#include "holdfast/prefix/tree_room.h"
#include "holdfast/prefix/tree_share.h"

namespace holdfast {

void PrefixTree::ask(const std::function<Bytes()>& room) {
  if (!share_) {
    return;
  }
  const auto wanted = [&] {
    const TreeLock locked(*core_);
    return room();
  };
  share_->ask(wanted(), SharedRam::Ask::kFromOthers);
}

Bytes PrefixTree::reclaim(Bytes wanted) {
  const TreeLock locked(*core_);
  return core_->reclaim(wanted, EvictedBy::kReclaim);
}

void PrefixTree::set_budget(Bytes budget) {
  expect(
      budget >= Bytes(0),
      "[prefix.set_budget] expected a budget >= 0, got a negative one");
  expect(
      !share_,
      "[prefix.set_budget] expected a budget of its own, got a shared one");
  const TreeLock locked(*core_);
  core_->options.budget = budget;
  TreeRoom(*core_, EvictedBy::kRamBudget).shrink_to(core_->budget());
}

void PrefixTree::set_beside(Bytes beside) {
  const TreeLock locked(*core_);
  core_->beside = beside;
  TreeRoom(*core_, EvictedBy::kRamBudget).shrink_to(core_->budget());
}

bool PrefixTree::make_room_beside(Bytes more) {
  return !share_ || share_->ask(more, SharedRam::Ask::kWhole);
}

void PrefixTree::shrink() {
  {
    const TreeLock locked(*core_);
    TreeRoom(*core_, EvictedBy::kRamBudget).shrink_to(core_->budget());
  }
  if (share_) {
    core_->options.ram->settle();
  }
}

Bytes PrefixTree::bytes() const {
  const TreeLock locked(*core_);
  return core_->bytes();
}

} // namespace holdfast
