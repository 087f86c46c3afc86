// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/rotation.h"

#include <string>

#include "holdfast/base/check.h"
#include "holdfast/codec/vector_loops.h"

namespace holdfast {

namespace {

void require(std::span<const float> vector) {
  if (!can_rotate(static_cast<int64_t>(vector.size()))) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[rotate] expected a multiple of " + std::to_string(kRotationDimStep) +
            " elements from " + std::to_string(kRotationMinDim) + " to " +
            std::to_string(kRotationMaxDim) + ", got " +
            std::to_string(vector.size()));
  }
}

} // namespace

void rotate(std::span<float> vector) {
  require(vector);
  vector_loops().rotate(vector.data(), static_cast<int64_t>(vector.size()));
}

void unrotate(std::span<float> vector) {
  require(vector);
  vector_loops().unrotate(vector.data(), static_cast<int64_t>(vector.size()));
}

} // namespace holdfast
