// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Writes and reads tokens' codes in a plane of code tiles (code_tile.h).
// A token shares words with its neighbours: one writer at a time. Pure
// functions; nothing allocates.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "holdfast/codec/codec.h"

namespace holdfast {

/// Which codes: those of token `slot` in a plane of `bits` a code.
struct CodeSlot {
  ChannelRole role;
  int bits;
  int64_t slot;
};

/// Puts the codes of `tokens` neighbouring tokens from `first` on. codes:
/// [tokens][code_row(role, head_dim)]; key elements beyond the head size are
/// code 0. The codes of other tokens stay.
struct CodeTokens {
  int64_t count;
  int64_t head_dim; // a multiple of 16
  const uint8_t* codes;
};
void put_codes(
    const CodeSlot& first,
    const CodeTokens& tokens,
    std::byte* plane);
/// codes: [head_dim].
void get_codes(
    const CodeSlot& at,
    const std::byte* plane,
    std::span<uint8_t> codes);
/// Codes that a token takes: those of keys fill whole tiles of 32.
int64_t code_row(ChannelRole role, int64_t head_dim);
/// Bytes of the plane.
int64_t code_bytes(ChannelRole role, int bits, int64_t head_dim);

/// Tokens whose codes are made before they are put: those of a tile of keys.
inline constexpr int64_t kCodeTokensAtOnce = 16;
inline constexpr int64_t kCodeMostElements = 512;

/// Puts the codes of `count` tokens from `first` on, which encode(i, codes
/// [head_dim]) makes for the i-th of them.
template <class Encode>
void encode_codes(
    const CodeSlot& first,
    int64_t count,
    int64_t head_dim,
    std::byte* plane,
    const Encode& encode) {
  uint8_t codes[kCodeTokensAtOnce * kCodeMostElements];
  const int64_t row = code_row(first.role, head_dim);
  for (int64_t i = 0; i < count;) {
    const int64_t slot = first.slot + i;
    // Up to the end of a tile's tokens.
    const int64_t room = kCodeTokensAtOnce - slot % kCodeTokensAtOnce;
    const int64_t tokens = room < count - i ? room : count - i;
    for (int64_t t = 0; t < tokens; ++t) {
      uint8_t* to = codes + t * row;
      encode(i + t, to);
      std::memset(to + head_dim, 0, static_cast<size_t>(row - head_dim));
    }
    put_codes({first.role, first.bits, slot}, {tokens, head_dim, codes}, plane);
    i += tokens;
  }
}

} // namespace holdfast
