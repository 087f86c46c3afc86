// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One block that changes its precision: what Chains asks for when a row enters
// a phase. Any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace holdfast {

struct BlockConversion {
  int64_t group = 0;
  int64_t from = 0; // phase of the source
  int64_t to = 0; // phase of the target
  const std::byte* source = nullptr; // an image of the group in that phase
  std::byte* target = nullptr; // likewise, zero-filled
  int64_t slots = 0; // the leading ones that hold committed positions
};

/// Fills those slots of the target: encode(decode(source)), token by token.
using BlockConverter = std::function<void(const BlockConversion&)>;

} // namespace holdfast
