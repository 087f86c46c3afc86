// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to prefix/: an index among the caches of a shared budget. Threads:
// any; its calls take the tree's lock, so nobody asks under it.

#pragma once

#include <memory>

#include "holdfast/objects/shared_ram.h"
#include "holdfast/prefix/tree_core.h"

namespace holdfast {

class TreeShare final : public RamUser {
 public:
  /// `core` outlives this; its options name the shared budget.
  explicit TreeShare(TreeCore& core);
  /// What the core does not use is free again; the rest when it goes.
  ~TreeShare() override;

  /// See SharedRam::ask().
  bool ask(Bytes room, SharedRam::Ask how);

  Bytes unused() override;
  Bytes may_leave(Bytes most) override;
  std::optional<LeavingRam> next_to_leave(uint64_t now) override;
  Bytes give(Bytes wanted, From from) override;
  Bytes let_go(Bytes wanted) override;
  void take(Bytes more) override;

 private:
  TreeCore& core_;
  SharedRam& ram_; // of the core's options
};

} // namespace holdfast
