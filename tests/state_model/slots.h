// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What the parts of the shadow model share: slots with a stamp a position.

#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "holdfast/block/layout.h"
#include "holdfast/rows/bidirectional.h"
#include "tests/code_of.h"

namespace holdfast::shadow {

inline constexpr int64_t kImage = 4096; // 64 stamps and room

inline void require(bool condition, const std::string& text) {
  if (!condition) {
    throw std::runtime_error("[shadow] expected " + text);
  }
}

inline int64_t blocks_for(int64_t positions) {
  return positions / kBlockTokens + (positions % kBlockTokens != 0);
}

/// A prefix of so many positions ends within one of the spans.
inline const BidirectionalSpan*
cut_by(const std::vector<BidirectionalSpan>& spans, int64_t length) {
  for (const BidirectionalSpan& span : spans) {
    if (span.begin.get() < length && length < span.end.get()) {
      return &span;
    }
  }
  return nullptr;
}

/// Phases must not be mixed up: what a conversion turns one into another with.
inline uint64_t salt(size_t phase) {
  return 0xbf58476d1ce4e5b9u * phase;
}

/// Groups must not be mixed up, so each stores another number.
inline uint64_t mixed(uint64_t stamp, size_t group, size_t phase = 0) {
  return stamp ^ (0x9e3779b97f4a7c15u * (group + 1)) ^ salt(phase);
}

/// Dense images are larger.
inline int64_t image_bytes(size_t phase, size_t phases) {
  return kImage * static_cast<int64_t>(phases - phase);
}

inline uint64_t stamp_at(const std::byte* image, int64_t position) {
  uint64_t result = 0;
  std::memcpy(&result, image + position % kBlockTokens * 8, sizeof(result));
  return result;
}

} // namespace holdfast::shadow
