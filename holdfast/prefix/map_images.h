// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to prefix/: stored images as mapped bytes, compared with their
// checksums by several threads at once: a restart waits for that. Threads: any.

#pragma once

#include <span>
#include <vector>

#include "holdfast/tier/disk_tier.h"

namespace holdfast {

/// [extent] as DiskTier::map() gives them; by at most so many threads, of which
/// the caller's is one. Those behind the first that failed may not have been
/// mapped: kNotFound.
std::vector<Result<MappedImage>>
map_images(DiskTier& disk, std::span<const Extent> extents, int threads);

} // namespace holdfast
