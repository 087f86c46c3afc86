// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Where the turbo codecs put a head's codes and norms over a block: the codecs
// and the kernels agree through this file and code_tile.h alone. Planes, for
// keys and values alike: codes, norms. Element d of a token's rotated vector is
// norm * level[code]; at 8 bits code c stands for the level c - 128. Pure
// functions; any thread.

#pragma once

#include <cstdint>

#include "holdfast/codec/code_tile.h"

namespace holdfast {

inline constexpr int64_t kTurboDimStep = 16;
inline constexpr int64_t kTurboMaxDim = 512;

/// Planes of a channel, in order.
enum TurboPlane { kTurboCodes, kTurboNorms, kTurboPlanes };

/// The level of 8-bit code 0.
inline constexpr int kTurboUniformZero = -128;

/// Norms: [64 tokens] f32. Index in elements.
constexpr int64_t turbo_norm_index(int64_t t) {
  return t;
}
inline constexpr int64_t kTurboNormBytes = kBlockTokens * 4;

} // namespace holdfast
