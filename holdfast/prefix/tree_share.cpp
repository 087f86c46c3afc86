// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/tree_share.h"

#include <algorithm>

#include "holdfast/prefix/tree_room.h"

namespace holdfast {

TreeShare::TreeShare(TreeCore& core) : core_(core), ram_(*core.options.ram) {
  ram_.join(*this);
}

TreeShare::~TreeShare() {
  ram_.leave(*this);
  ram_.give_back(give(core_.options.budget, From::kUnused));
}

bool TreeShare::ask(Bytes room, SharedRam::Ask how) {
  return ram_.ask(*this, room, how);
}

Bytes TreeShare::unused() {
  const TreeLock locked(core_);
  return core_.unused();
}

Bytes TreeShare::may_leave(Bytes most) {
  const TreeLock locked(core_);
  return TreeRoom(core_, EvictedBy::kRamBudget).may_leave(most);
}

std::optional<LeavingRam> TreeShare::next_to_leave(uint64_t now) {
  const TreeLock locked(core_);
  return TreeRoom(core_, EvictedBy::kRamBudget).next(now);
}

Bytes TreeShare::give(Bytes wanted, From from) {
  const TreeLock locked(core_);
  if (from == From::kEntries && core_.unused() < wanted) {
    const Bytes more = wanted - core_.unused();
    TreeRoom(core_, EvictedBy::kRamBudget)
        .shrink_to(std::max(Bytes(0), core_.bytes() - more));
  }
  const Bytes given = std::clamp(core_.unused(), Bytes(0), wanted);
  core_.options.budget -= given;
  return given;
}

Bytes TreeShare::let_go(Bytes wanted) {
  const TreeLock locked(core_);
  const Bytes before = core_.bytes();
  TreeRoom(core_, EvictedBy::kRamBudget)
      .shrink_to(std::max(Bytes(0), before - wanted));
  return before - core_.bytes();
}

void TreeShare::take(Bytes more) {
  const TreeLock locked(core_);
  core_.options.budget += more;
}

} // namespace holdfast
