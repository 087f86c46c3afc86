// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/tensor_array.h"

#include <array>
#include <cstring>
#include <utility>

#include "mlx/allocator.h"
#include "mlx/device.h"
#include "mlx/ops.h"
#include "mlx/transforms.h"

#include "holdfast/base/check.h"

namespace holdfast {

namespace mx = mlx::core;

namespace {

struct TypePair {
  TensorType stored;
  mx::Dtype::Val ours;
};

constexpr std::array kTypes{
    TypePair{TensorType::kBool, mx::Dtype::Val::bool_},
    TypePair{TensorType::kU8, mx::Dtype::Val::uint8},
    TypePair{TensorType::kU16, mx::Dtype::Val::uint16},
    TypePair{TensorType::kU32, mx::Dtype::Val::uint32},
    TypePair{TensorType::kU64, mx::Dtype::Val::uint64},
    TypePair{TensorType::kI8, mx::Dtype::Val::int8},
    TypePair{TensorType::kI16, mx::Dtype::Val::int16},
    TypePair{TensorType::kI32, mx::Dtype::Val::int32},
    TypePair{TensorType::kI64, mx::Dtype::Val::int64},
    TypePair{TensorType::kF16, mx::Dtype::Val::float16},
    TypePair{TensorType::kBF16, mx::Dtype::Val::bfloat16},
    TypePair{TensorType::kF32, mx::Dtype::Val::float32},
    TypePair{TensorType::kF64, mx::Dtype::Val::float64},
    TypePair{TensorType::kC64, mx::Dtype::Val::complex64},
};

mx::Dtype dtype_of(TensorType type) {
  for (const TypePair& pair : kTypes) {
    if (pair.stored == type) {
      return mx::Dtype(pair.ours, static_cast<uint8_t>(element_bytes(type)));
    }
  }
  throw Error(
      ErrorCode::kInternal, "[tensor] expected a type of the table, got none");
}

} // namespace

TensorFacts facts_of(const mx::array& array) {
  for (const TypePair& pair : kTypes) {
    if (pair.ours == array.dtype().val()) {
      return {pair.stored, {array.shape().begin(), array.shape().end()}};
    }
  }
  throw Error(
      ErrorCode::kUnsupported,
      "[tensor] expected an element type that can be stored, got another");
}

void copy_elements(
    const mx::array& array,
    std::span<std::byte> elements,
    mx::StreamOrDevice stream) {
  mx::array whole = mx::contiguous(array, false, stream);
  mx::eval({whole});
  ensure(
      whole.nbytes() == elements.size(),
      "[tensor] expected room for the array's elements, got another");
  if (!elements.empty()) {
    std::memcpy(elements.data(), whole.data<std::byte>(), elements.size());
  }
}

Result<mx::array> array_over(const Object& object) {
  const Result<StoredTensor> read = read_tensor(object.bytes());
  if (!read.ok()) {
    return read.status();
  }
  const StoredTensor& tensor = read.value();
  mx::array result(
      mx::Shape(tensor.facts.shape.begin(), tensor.facts.shape.end()),
      dtype_of(tensor.facts.type),
      nullptr,
      {});
  if (tensor.elements.empty() || mx::is_available(mx::Device::gpu)) {
    result.set_data(mx::allocator::malloc(tensor.elements.size()));
    if (!tensor.elements.empty()) {
      std::memcpy(
          result.data<std::byte>(),
          tensor.elements.data(),
          tensor.elements.size());
    }
  } else {
    // A CPU buffer of MLX is its size with the elements behind it: the header
    // of a stored tensor ends with it. One with a deleter is never an output.
    const std::byte* header = tensor.elements.data() - sizeof(size_t);
    result.set_data(mx::allocator::Data(
        mx::allocator::Buffer(const_cast<std::byte*>(header)),
        [owner = object.owner()](mx::allocator::Buffer) {}));
  }
  result.set_status(mx::array::Status::available);
  if (!object.intact()) {
    return Status(
        ErrorCode::kCorrupt,
        "[tensor] expected an object that is whole, got one of a file that was "
        "cut short while it was mapped");
  }
  return result;
}

} // namespace holdfast
