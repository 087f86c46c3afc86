// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of the turbo codecs on one token's vector: rotated, then each
// element replaced by the nearest of a table of int8 levels, with one f32
// norm for all. docs/codecs.md has the steps and their order.
// Pure functions; any thread; nothing allocates.

#pragma once

#include <cstdint>
#include <span>

#include "holdfast/codec/rotation_layout.h"
#include "holdfast/codec/turbo_books.h"
#include "holdfast/codec/turbo_layout.h"
#include "holdfast/codec/turbo_steps.h"

namespace holdfast {

/// The table of 2, 3, 4 or 5 bits; 8 bits have none: their levels are uniform.
constexpr const TurboBook& turbo_book(int bits) {
  return kTurboBooks[bits - 2];
}
/// The level that a code stands for.
constexpr int turbo_level(int bits, uint8_t code) {
  return bits == 8 ? code + kTurboUniformZero : turbo_book(bits).levels[code];
}

/// The rotated vector that is stored. rotated: [head_dim].
void turbo_decode_rotated(
    int bits,
    std::span<const uint8_t> codes,
    float norm,
    std::span<float> rotated);

} // namespace holdfast
