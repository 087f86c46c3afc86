// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/code_plane.h"

#include "holdfast/codec/code_tile.h"

namespace holdfast {

namespace {

CodePlace place_of(const CodeSlot& at, int64_t dim, int64_t d) {
  return at.role == ChannelRole::kKeys ? code_key_place(at.slot, d)
                                       : code_value_place(dim, at.slot, d);
}

// put_code, in one step where the code lies in one word.
void put(uint16_t* plane, int64_t bits, const CodePlace& place, uint32_t code) {
  uint16_t* tile = plane + place.tile * bits * kCodeTileWords;
  const int64_t whole = 16 / bits;
  if (place.row >= whole * bits) {
    put_code(tile, bits, place.row, place.word, code);
    return;
  }
  uint16_t& word = tile[place.row / whole * kCodeTileWords + place.word];
  const auto shift = static_cast<uint32_t>(place.row % whole * bits);
  const uint32_t mask = ((1u << bits) - 1) << shift;
  word = static_cast<uint16_t>((word & ~mask) | code << shift);
}

uint32_t get(const uint16_t* plane, int64_t bits, const CodePlace& place) {
  const uint16_t* tile = plane + place.tile * bits * kCodeTileWords;
  const int64_t whole = 16 / bits;
  if (place.row >= whole * bits) {
    return get_code(tile, bits, place.row, place.word);
  }
  const uint32_t word = tile[place.row / whole * kCodeTileWords + place.word];
  return word >> (place.row % whole * bits) & ((1u << bits) - 1);
}

} // namespace

void put_codes(
    const CodeSlot& at,
    std::span<const uint8_t> codes,
    std::byte* plane) {
  auto* words = reinterpret_cast<uint16_t*>(plane);
  const auto dim = static_cast<int64_t>(codes.size());
  for (int64_t d = 0; d < dim; ++d) {
    put(words, at.bits, place_of(at, dim, d), codes[d]);
  }
  if (at.role == ChannelRole::kKeys) {
    for (int64_t d = dim; d < code_key_width(dim); ++d) {
      put(words, at.bits, place_of(at, dim, d), 0);
    }
  }
}

void get_codes(
    const CodeSlot& at,
    const std::byte* plane,
    std::span<uint8_t> codes) {
  const auto* words = reinterpret_cast<const uint16_t*>(plane);
  const auto dim = static_cast<int64_t>(codes.size());
  for (int64_t d = 0; d < dim; ++d) {
    codes[d] = static_cast<uint8_t>(get(words, at.bits, place_of(at, dim, d)));
  }
}

int64_t code_bytes(ChannelRole role, int bits, int64_t head_dim) {
  const int64_t width =
      role == ChannelRole::kKeys ? code_key_width(head_dim) : head_dim;
  return code_plane_bytes(bits, width);
}

} // namespace holdfast
