// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/turbo_vector.h"

#include "holdfast/base/check.h"
#include "holdfast/codec/vector_loops.h"

namespace holdfast {

float turbo_encode(
    int bits,
    std::span<const float> vector,
    std::span<uint8_t> codes) {
  const auto dim = static_cast<int64_t>(vector.size());
  expect(
      can_rotate(dim) && codes.size() == vector.size(),
      "[turbo_encode] expected a head size that can be rotated and as many "
      "codes, got others");
  float norm;
  vector_loops().turbo_encode(
      bits,
      {.vectors = vector.data(), .count = 1, .dim = dim, .codes = codes.data()},
      &norm);
  return norm;
}

void turbo_decode_rotated(
    int bits,
    std::span<const uint8_t> codes,
    float norm,
    std::span<float> rotated) {
  for (size_t d = 0; d < rotated.size(); ++d) {
    rotated[d] = norm * static_cast<float>(turbo_level(bits, codes[d]));
  }
}

} // namespace holdfast
