// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The key that the chained keys of a scope begin with. Any thread.

#pragma once

#include <string_view>

#include "holdfast/base/key_hash.h"

namespace holdfast {

/// The first 16 bytes of the SHA-256 of the scope's canonical text, each half
/// big-endian.
Key128 root_key(std::string_view scope_text);

} // namespace holdfast
