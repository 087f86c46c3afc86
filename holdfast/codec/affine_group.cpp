// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/affine_group.h"

#include "holdfast/base/check.h"
#include "holdfast/codec/vector_loops.h"

namespace holdfast {

AffineScale affine_encode(
    int bits,
    std::span<const float> group,
    std::span<uint8_t> codes) {
  const auto count = static_cast<int64_t>(group.size());
  expect(
      count % 32 == 0 && count > 0 && count <= kAffineLargestGroup &&
          codes.size() == group.size(),
      "[affine_encode] expected a group of 32, 64, 96 or 128 elements and as "
      "many codes, got others");
  return vector_loops().affine_encode(bits, group.data(), count, codes.data());
}

} // namespace holdfast
