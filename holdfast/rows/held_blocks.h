// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Which absolute blocks of one layer group a chain holds: the leading ones that
// hold sinks, single ones that were kept behind the window, and all from the
// window's begin on. A view of its Chain, good until that changes; any thread.
//
// Invariants: first <= end; kept rise and lie in [pinned, first).

#pragma once

#include <cstdint>
#include <span>

#include "holdfast/base/strong.h"

namespace holdfast {

/// The blocks [0, pinned), `kept` and [first, end), as far as they are below
/// end.
struct HeldBlocks {
  BlockIndex pinned;
  BlockIndex first;
  BlockIndex end;
  std::span<const BlockIndex> kept = {};

  bool holds(BlockIndex block) const;
  int64_t count() const;
  /// The last block below `first` that is not held; -1 where all are.
  BlockIndex last_gap() const;
};

} // namespace holdfast
