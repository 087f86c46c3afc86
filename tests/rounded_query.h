// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Queries as the kernels see them: rounded to bf16 where keys are bf16 or
// codes, of turbo codes in the rotated domain.

#pragma once

#include <span>

#include "holdfast/base/bits.h"
#include "holdfast/codec/codec.h"
#include "holdfast/codec/rotation.h"

namespace holdfast::test {

/// q: heads of `dim` elements, one after the other.
inline void round_query(const CodecForm& keys, size_t dim, std::span<float> q) {
  if (keys.kind == CodecKind::kDense && keys.format != DenseFormat::kBf16) {
    return;
  }
  for (size_t at = 0; at < q.size(); at += dim) {
    const std::span<float> head = q.subspan(at, dim);
    if (keys.kind == CodecKind::kTurbo) {
      rotate(head);
    }
    for (float& x : head) {
      x = bf16_to_f32(f32_to_bf16(x));
    }
    if (keys.kind == CodecKind::kTurbo) {
      unrotate(head);
    }
  }
}

} // namespace holdfast::test
