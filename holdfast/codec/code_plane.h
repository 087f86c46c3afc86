// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Writes and reads one token's codes in a plane of code tiles (code_tile.h).
// A token shares words with its neighbours: one writer at a time. Pure
// functions; nothing allocates.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "holdfast/codec/codec.h"

namespace holdfast {

/// Which codes: those of token `slot` in a plane of `bits` a code.
struct CodeSlot {
  ChannelRole role;
  int bits;
  int64_t slot;
};

/// codes: [head_dim], a multiple of 16. Key elements beyond the head size
/// become code 0. The codes of other tokens stay.
void put_codes(
    const CodeSlot& at,
    std::span<const uint8_t> codes,
    std::byte* plane);
void get_codes(
    const CodeSlot& at,
    const std::byte* plane,
    std::span<uint8_t> codes);
/// Bytes of the plane.
int64_t code_bytes(ChannelRole role, int bits, int64_t head_dim);

} // namespace holdfast
