// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A state folder's tier is opened, and the user told what was found wrong with
// it. One thread.

#pragma once

#include <memory>

#include "holdfast/tier/disk_tier.h"
#include "json.h"

namespace holdfast::app {

/// Throws UserError, which says how to go on, where it cannot be used.
std::unique_ptr<DiskTier> open_tier(const DiskTierOptions& options);

/// All that was found since the tier was opened, the oldest first.
Json findings_json(const TierReport& report);

} // namespace holdfast::app
