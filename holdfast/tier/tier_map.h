// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to DiskTier: an extent as mapped bytes. Threads: any, outside of an
// access.

#pragma once

#include "holdfast/base/status.h"
#include "holdfast/tier/disk_tier.h"
#include "holdfast/tier/ids.h"
#include "holdfast/tier/stored.h"

namespace holdfast {

class DiskTierCore;

/// As DiskTier::map.
Result<MappedImage>
map_extent(DiskTierCore& core, const Extent& extent, Verify verify);

} // namespace holdfast
