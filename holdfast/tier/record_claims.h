// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What whoever works on records claims (KeyClaims): no other works on them
// meanwhile, no process evicts them, and none of them expires. A claim is of
// one record, or of all whose names begin alike up to a slash, as the answers
// of a chat do; one of the second kind keeps nobody off a claim of the first.
// Values; any thread.

#pragma once

#include <set>
#include <string>

#include "holdfast/tier/ids.h"

namespace holdfast {

/// The key of one record.
std::string record_claim(const RecordName& name);
/// The key of all records of the space whose names begin with folder.name and
/// a slash.
std::string folder_claim(const RecordName& folder);

/// claimed: SHA-256 of keys in hex, as KeyClaims::claimed() gives them.
bool is_claimed(const RecordName& name, const std::set<std::string>& claimed);

} // namespace holdfast
