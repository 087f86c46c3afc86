// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a disk tier has, as a prefix tree shall know it. Internal to prefix/.
// Threads: any.

#pragma once

#include "holdfast/prefix/prefix_tree.h"
#include "holdfast/tier/disk_tier.h"

namespace holdfast {

/// Puts all that the tier has into the tree, and takes out what it has no more:
/// other processes store and evict as well.
Status load_tree(PrefixTree& tree, DiskTier& disk);
/// Puts what came since the last load into the tree; what went is found out
/// when it is mapped.
Status load_tree_changes(PrefixTree& tree, DiskTier& disk);

} // namespace holdfast
