// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/state/attachment.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "mlx/ops.h"
#include "mlx/transforms.h"

#include "holdfast/base/check.h"

namespace holdfast {

namespace mx = mlx::core;

namespace {

/// Whether an array of that shape and item size has so many bytes.
bool takes(const std::vector<int32_t>& shape, size_t item, size_t bytes) {
  if (std::any_of(
          shape.begin(), shape.end(), [](int32_t n) { return n < 0; })) {
    return false;
  }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
    return bytes == 0;
  }
  size_t left = bytes / item; // divided, because a product may overflow
  for (const int32_t size : shape) {
    if (left % static_cast<size_t>(size) != 0) {
      return false;
    }
    left /= static_cast<size_t>(size);
  }
  return left == 1 && bytes % item == 0;
}

int64_t size_of(const std::string& text) {
  return std::ssize(text);
}

} // namespace

mx::array AttachedArray::array(mx::StreamOrDevice stream) const {
  if (!takes(shape, dtype.size(), bytes.size())) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[AttachedArray] expected the bytes of its shape in \"" + name +
            "\", got " + std::to_string(bytes.size()));
  }
  // The bytes lie at any alignment; MLX's own allocation does not.
  mx::array result =
      mx::zeros(mx::Shape(shape.begin(), shape.end()), dtype, stream);
  mx::eval({result});
  if (!bytes.empty()) {
    std::memcpy(result.data<std::byte>(), bytes.data(), bytes.size());
  }
  return result;
}

Bytes Attachment::bytes() const {
  int64_t sum = size_of(name) + size_of(schema);
  for (const auto& [key, value] : metadata) {
    sum += size_of(key) + size_of(value);
  }
  for (const AttachedArray& array : arrays) {
    sum += size_of(array.name) + std::ssize(array.shape) * 4 +
        std::ssize(array.bytes);
  }
  return Bytes(sum);
}

AttachedArray
settle(std::string name, const mx::array& array, mx::StreamOrDevice stream) {
  mx::array whole = mx::contiguous(array, false, stream);
  mx::eval({whole});
  const auto* data = whole.data<std::byte>();
  return {
      .name = std::move(name),
      .dtype = whole.dtype(),
      .shape = {whole.shape().begin(), whole.shape().end()},
      .bytes = {data, data + whole.nbytes()}};
}

} // namespace holdfast
