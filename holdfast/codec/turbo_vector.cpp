// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/turbo_vector.h"

namespace holdfast {

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
