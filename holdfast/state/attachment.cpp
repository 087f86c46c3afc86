// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/state/attachment.h"

#include <cstring>
#include <utility>

#include "mlx/ops.h"
#include "mlx/transforms.h"

namespace holdfast {

namespace mx = mlx::core;

mx::array AttachedArray::array() const {
  // The bytes lie at any alignment; MLX's own allocation does not.
  mx::array result = mx::zeros(mx::Shape(shape.begin(), shape.end()), dtype);
  mx::eval({result});
  if (!bytes.empty()) {
    std::memcpy(result.data<std::byte>(), bytes.data(), bytes.size());
  }
  return result;
}

Bytes Attachment::bytes() const {
  int64_t sum = 0;
  for (const AttachedArray& array : arrays) {
    sum += std::ssize(array.bytes);
  }
  return Bytes(sum);
}

AttachedArray settle(std::string name, const mx::array& array) {
  mx::array whole = mx::contiguous(array);
  mx::eval({whole});
  const auto* data = whole.data<std::byte>();
  return {
      .name = std::move(name),
      .dtype = whole.dtype(),
      .shape = {whole.shape().begin(), whole.shape().end()},
      .bytes = {data, data + whole.nbytes()}};
}

} // namespace holdfast
