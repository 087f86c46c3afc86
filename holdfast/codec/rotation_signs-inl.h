// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The sign flips of the rotation as masks. Include it in vector_loops_*.cpp
// alone.

#pragma once

#include <cstdint>

#include "holdfast/codec/rotation_layout.h"

namespace holdfast {
namespace {

/// The sign bits of a pass.
struct SignMasks {
  uint32_t bits[kRotationMaxDim];
};

constexpr SignMasks sign_masks(int pass) {
  SignMasks masks{};
  for (int64_t i = 0; i < kRotationMaxDim; ++i) {
    masks.bits[i] = rotation_negates(pass, i) ? 0x80000000u : 0u;
  }
  return masks;
}
constexpr SignMasks kSignMasks[] = {sign_masks(0), sign_masks(1)};

} // namespace
} // namespace holdfast
