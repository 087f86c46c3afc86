// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/state/require_shape.h"

#include <sstream>
#include <string>

#include "mlx/utils.h"

#include "holdfast/base/status.h"

namespace holdfast {

namespace {

namespace mx = mlx::core;

std::string text_of(const mx::Shape& shape, mx::Dtype dtype) {
  std::ostringstream text;
  text << "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text << (i ? ", " : "") << shape[i];
  }
  text << "] " << dtype;
  return text.str();
}

} // namespace

void require_shape(
    const char* where,
    const char* what,
    const mx::array& array,
    const mx::Shape& shape) {
  if (array.shape() == shape && array.dtype() == mx::float32) {
    return;
  }
  throw Error(
      ErrorCode::kInvalidArgument,
      std::string(where) + " expected " + what + " " +
          text_of(shape, mx::float32) + ", got " +
          text_of(array.shape(), array.dtype()));
}

} // namespace holdfast
