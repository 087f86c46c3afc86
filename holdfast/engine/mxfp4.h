// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// MXFP4 (OCP Microscaling Formats 1.0): weights of 4 bits, E2M1, in groups of
// 32 that share a power of two, E8M0. A row of k weights is k / 2 bytes of
// codes, the first weight of a byte in its low half, and k / 32 exponents:
//
//   w = value(code) * 2^(exponent - 127), value: 0, 0.5, 1, 1.5, 2, 3, 4, 6
//
// Twice a value is a whole number from -12 to 12: the kernels' codes of 5 bits
// without offsets hold it exactly, at half the scale. Stateless; any thread.

#pragma once

#include <cstddef>
#include <cstdint>

#include "holdfast/kernels/cpu/weight.h"

namespace holdfast {

inline constexpr int64_t kMxfp4Group = 32;

/// The format that read_mxfp4() fills.
inline constexpr cpu::WeightFormat kMxfp4Format{
    .kind = cpu::WeightFormat::Kind::kCodes,
    .bits = 5,
    .group = kMxfp4Group,
    .offsets = false};

/// One row; k is a multiple of 32. An exponent of 255 is no number: its scale
/// is NaN, which packers refuse.
void read_mxfp4(
    const std::byte* codes,
    const std::byte* exponents,
    int64_t k,
    const cpu::CodeRow& out);

} // namespace holdfast
