// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What groups say that a row retains, for tests of groups.

#pragma once

#include <algorithm>

#include "holdfast/block/layout.h"
#include "holdfast/plan/group.h"

namespace holdfast {

/// The images of a row of that many committed positions between steps, where
/// nothing of it is due.
inline Bytes retained_bytes(const LayerGroups& groups, Position committed) {
  Chain chain(groups.rules(), kBlockTokens);
  while (chain.committed() < committed) {
    const int64_t count =
        std::min(chain.max_append(), (committed - chain.committed()).get());
    chain.append(count);
    chain.commit(count);
  }
  int64_t bytes = 0;
  for (int64_t index = 0; index < groups.size(); ++index) {
    const auto phase = static_cast<size_t>(chain.due_phase(index));
    bytes += chain.held(index).count() *
        groups.group(index).phases[phase].layout.bytes().get();
  }
  return Bytes(bytes);
}

} // namespace holdfast
