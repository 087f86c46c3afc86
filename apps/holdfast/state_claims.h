// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Who works on what in a folder of kept state. Any thread.

#pragma once

#include <memory>

#include "holdfast/tier/disk_tier.h"
#include "holdfast/tier/key_claims.h"

namespace holdfast::app {

/// The claims of a tier's folder, with those of generations.
KeyClaims claims_of(const DiskTier& tier);

/// Keeps processes off that would store the record: a chat's, a generation's.
/// Null for others. Throws UserError where one is at work on it.
std::shared_ptr<void>
claim_record(const DiskTier& tier, const RecordName& name);

} // namespace holdfast::app
