// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One tensor as stored bytes: a header that says type, shape and layout, then
// the elements (docs/objects.md has the grammar). The 8 bytes in front of the
// elements are their size, so that a buffer of MLX's may lie over stored bytes.
//
// Whoever reads checks everything that the header says against the bytes that
// are there; the elements' checksum is the tier's. Values; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/base/strong.h"

namespace holdfast {

/// Persisted: an element type is never another number.
enum class TensorType : uint16_t {
  kBool = 1,
  kU8 = 2,
  kU16 = 3,
  kU32 = 4,
  kU64 = 5,
  kI8 = 6,
  kI16 = 7,
  kI32 = 8,
  kI64 = 9,
  kF16 = 10,
  kBF16 = 11,
  kF32 = 12,
  kF64 = 13,
  kC64 = 14, // two f32: real, imaginary
};

/// Of one element; 0 for a number that names no type.
int64_t element_bytes(TensorType type);

/// Elements in row-major order: the only layout there is.
struct TensorFacts {
  TensorType type = TensorType::kF32;
  std::vector<int32_t> shape; // none: a scalar

  bool operator==(const TensorFacts&) const = default;
};

inline constexpr int64_t kMostTensorRank = 64;
/// Elements begin at a multiple of this.
inline constexpr int64_t kTensorAlignment = 64;

/// What the elements take. Throws kInvalidArgument for a negative extent, for
/// more than kMostTensorRank of them, an unknown type, or 2^62 bytes and more.
Bytes element_bytes(const TensorFacts& facts);
/// Header and elements.
Bytes stored_bytes(const TensorFacts& facts);
/// Writes the header into the front of `into`, which has stored_bytes(); where
/// the elements go.
std::span<std::byte>
write_tensor_header(const TensorFacts& facts, std::span<std::byte> into);

struct StoredTensor {
  TensorFacts facts;
  std::span<const std::byte> elements;
};

/// kCorrupt for what no writer made, kUnsupported for a version, type or layout
/// of others.
Result<StoredTensor> read_tensor(std::span<const std::byte> bytes);

} // namespace holdfast
