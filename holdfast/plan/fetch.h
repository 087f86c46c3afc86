// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a row holds of one layer, decoded: for tests, export and engines that
// know no blocks. The plain way, one token at a time. Engine thread.

#pragma once

#include <cstdint>
#include <vector>

#include "holdfast/plan/chains.h"
#include "holdfast/plan/group.h"

namespace holdfast {

/// Row-contiguous copies of the n committed positions that the row holds.
struct FetchedChannels {
  std::vector<int64_t> positions; // [n], rising
  int64_t heads = 0;
  int64_t key_dim = 0;
  int64_t value_dim = 0;
  std::vector<float> keys; // [n, heads, key_dim]
  std::vector<float> values; // [n, heads, value_dim]
};

/// Throws kNotFound for a row that is not there, kInvalidArgument for a layer
/// out of range, kUnsupported for a recurrent one.
FetchedChannels fetch_channels(
    const Chains& chains,
    const LayerGroups& groups,
    RowId row,
    LayerIndex layer);

} // namespace holdfast
