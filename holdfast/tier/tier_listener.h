// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Hears what goes out of a tier's manifest by this process, whoever's verb it
// was: after it is committed, and before the locks are given back without which
// nobody can find it gone. Where nobody can say whether a commit happened, what
// may have gone is told as gone, and the next load is one of all.
//
// Threads: any, one call at a time, in the order in which things went. A call
// is made in an access: it must not call the tier, nor throw.

#pragma once

#include "holdfast/tier/batch.h"
#include "holdfast/tier/stored.h"

namespace holdfast {

class TierListener {
 public:
  virtual ~TierListener() = default;
  virtual void removed(const Removed& removed) = 0;
  /// Dropped because it cannot be read. A store writes it anew.
  virtual void lost(const Lost& lost) = 0;
  /// All of it: another manifest took the place of this one.
  virtual void set_aside() = 0;
};

} // namespace holdfast
