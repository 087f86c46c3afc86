// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Converts the tokens of one head of one block from one codec to another:
// each is decoded and encoded again, alone. From a bf16 plane that gives the
// bytes of encoding the stored bf16 vector; the affine and turbo codecs round
// to bf16 first, so those are the bytes of encoding the original vector.
// Any thread; one writer a target.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "holdfast/codec/codec.h"

namespace holdfast {

/// One head's channel in both codecs.
struct Conversion {
  ChannelRole role;
  int64_t head_dim;
  int64_t slots; // the leading ones, which hold tokens
  std::span<const std::byte* const> from;
  std::span<std::byte* const> to;
};

/// Throws where a codec does not support the head, or on more than
/// kBlockTokens slots or other planes than the codecs have, before anything is
/// written. Planes must not overlap.
void convert_slots(
    const Codec& from,
    const Codec& to,
    const Conversion& conversion);

} // namespace holdfast
