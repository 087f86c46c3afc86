// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Which file, and which content of it: two reads of a path saw the same bytes
// where these are equal, as far as the grain of the system's times goes.
// Values; any thread.

#pragma once

#include <compare>
#include <cstdint>

namespace holdfast {

struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t size = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;
  auto operator<=>(const FileIdentity&) const = default;
};

} // namespace holdfast
