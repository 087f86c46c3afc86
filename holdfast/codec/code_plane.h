// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Writes and reads tokens' codes in a plane of code tiles (code_tile.h).
// A token shares words with its neighbours: one writer at a time. Pure
// functions; nothing allocates.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "holdfast/codec/codec.h"
#include "holdfast/codec/vector_loops.h"

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
inline constexpr int64_t kCodeMostElements = 512;
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

/// Puts the codes of vectors into `first` and the slots after it, as many at a
/// time as share a tile of keys: encode(i, part) makes those of the i-th and
/// the vectors after it.
template <class Encode>
void encode_codes(
    const CodeSlot& first,
    const VectorRun& vectors,
    std::byte* plane,
    const Encode& encode) {
  uint8_t codes[kVectorsAtOnce * kCodeMostElements];
  const int64_t dim = vectors.dim;
  const int64_t row = code_row(first.role, dim);
  for (int64_t i = 0; i < vectors.count;) {
    const int64_t slot = first.slot + i;
    const int64_t room = kVectorsAtOnce - slot % kVectorsAtOnce;
    const int64_t count = std::min(room, vectors.count - i);
    encode(
        i,
        CodedVectors{
            vectors.vector(i), vectors.stride, count, dim, codes, row});
    for (int64_t t = 0; row > dim && t < count; ++t) {
      std::memset(codes + t * row + dim, 0, static_cast<size_t>(row - dim));
    }
    put_codes({first.role, first.bits, slot}, {count, dim, codes}, plane);
    i += count;
  }
}

} // namespace holdfast
