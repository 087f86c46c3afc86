// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/objects/tensor_format.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/base/checksum.h"
#include "holdfast/tier/little_endian.h"

namespace holdfast {

namespace {

// Offsets of the header's fields; docs/objects.md.
constexpr std::string_view kMagic = "hftensor";
constexpr uint16_t kVersion = 1;
constexpr uint16_t kRowMajor = 1;
constexpr size_t kVersionAt = 8;
constexpr size_t kHeaderBytesAt = 10;
constexpr size_t kTypeAt = 12;
constexpr size_t kLayoutAt = 14;
constexpr size_t kRankAt = 16;
constexpr size_t kZeroAt = 20;
constexpr size_t kChecksumAt = 24;
constexpr size_t kShapeAt = 32;
constexpr size_t kSizeBytes = 8; // the elements' size ends the header

constexpr int64_t kMostBytes = int64_t{1} << 62;

size_t header_bytes(size_t rank) {
  const size_t used = kShapeAt + rank * sizeof(int32_t) + kSizeBytes;
  constexpr size_t kLine = kTensorAlignment;
  return (used + kLine - 1) / kLine * kLine;
}

/// Nothing where a product is 2^62 or more.
std::optional<int64_t> product(int64_t item, std::span<const int32_t> shape) {
  if (std::ranges::find(shape, 0) != shape.end()) {
    return 0;
  }
  int64_t result = item;
  for (const int32_t extent : shape) {
    if (result > kMostBytes / extent) {
      return std::nullopt;
    }
    result *= extent;
  }
  return result < kMostBytes ? std::optional(result) : std::nullopt;
}

/// Of the header without its checksum, which is taken as 0.
uint64_t checksum_of(std::span<const std::byte> header) {
  constexpr std::byte kNone[sizeof(uint64_t)]{};
  return Checksum()
      .add(header.first(kChecksumAt))
      .add(kNone)
      .add(header.subspan(kChecksumAt + sizeof(uint64_t)))
      .value();
}

Status corrupt(const std::string& expected, const std::string& got) {
  return {
      ErrorCode::kCorrupt, "[tensor] expected " + expected + ", got " + got};
}

Status unsupported(const std::string& expected, uint64_t got) {
  return {
      ErrorCode::kUnsupported,
      "[tensor] expected " + expected + ", got " + std::to_string(got)};
}

/// The header, whole and with the right checksum.
Result<std::span<const std::byte>> header_of(std::span<const std::byte> bytes) {
  if (bytes.size() < header_bytes(0) ||
      std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return corrupt("a tensor's header", "other bytes");
  }
  if (const auto version = load_le<uint16_t>(bytes, kVersionAt);
      version != kVersion) {
    return unsupported("version 1", version);
  }
  const auto rank = load_le<uint32_t>(bytes, kRankAt);
  const auto size = load_le<uint16_t>(bytes, kHeaderBytesAt);
  if (rank > kMostTensorRank || size != header_bytes(rank) ||
      size > bytes.size()) {
    return corrupt(
        "a header for its rank",
        std::to_string(size) + " bytes for " + std::to_string(rank));
  }
  const auto header = bytes.first(size);
  if (load_le<uint64_t>(header, kChecksumAt) != checksum_of(header)) {
    return corrupt("the header's checksum", "another");
  }
  return header;
}

/// Bytes of the header between shape and size, and its reserved field.
bool zeros_where_due(std::span<const std::byte> header, size_t rank) {
  const size_t used = kShapeAt + rank * sizeof(int32_t);
  return load_le<uint32_t>(header, kZeroAt) == 0 &&
      std::ranges::all_of(
             header.subspan(used, header.size() - kSizeBytes - used),
             [](std::byte byte) { return byte == std::byte{}; });
}

} // namespace

int64_t element_bytes(TensorType type) {
  switch (type) {
    case TensorType::kBool:
    case TensorType::kU8:
    case TensorType::kI8:
      return 1;
    case TensorType::kU16:
    case TensorType::kI16:
    case TensorType::kF16:
    case TensorType::kBF16:
      return 2;
    case TensorType::kU32:
    case TensorType::kI32:
    case TensorType::kF32:
      return 4;
    case TensorType::kU64:
    case TensorType::kI64:
    case TensorType::kF64:
    case TensorType::kC64:
      return 8;
  }
  return 0;
}

Bytes element_bytes(const TensorFacts& facts) {
  const int64_t item = element_bytes(facts.type);
  if (item == 0 || std::ssize(facts.shape) > kMostTensorRank ||
      std::ranges::any_of(facts.shape, [](int32_t n) { return n < 0; })) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[tensor] expected a known type and up to 64 extents of 0 or more, "
        "got type " +
            std::to_string(static_cast<int>(facts.type)) + " and " +
            std::to_string(facts.shape.size()) + " extents");
  }
  const auto bytes = product(item, facts.shape);
  if (!bytes) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[tensor] expected less than 2^62 bytes, got more");
  }
  return Bytes(*bytes);
}

Bytes stored_bytes(const TensorFacts& facts) {
  return element_bytes(facts) +
      Bytes(static_cast<int64_t>(header_bytes(facts.shape.size())));
}

std::span<std::byte>
write_tensor_header(const TensorFacts& facts, std::span<std::byte> into) {
  const Bytes elements = element_bytes(facts);
  const size_t size = header_bytes(facts.shape.size());
  if (std::ssize(into) != stored_bytes(facts).get()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[tensor] expected room for header and elements, got " +
            std::to_string(into.size()) + " bytes");
  }
  const auto header = into.first(size);
  std::ranges::fill(header, std::byte{});
  std::memcpy(header.data(), kMagic.data(), kMagic.size());
  store_le<uint16_t>(header, kVersionAt, kVersion);
  store_le<uint16_t>(header, kHeaderBytesAt, static_cast<uint16_t>(size));
  store_le<uint16_t>(header, kTypeAt, static_cast<uint16_t>(facts.type));
  store_le<uint16_t>(header, kLayoutAt, kRowMajor);
  store_le<uint32_t>(
      header, kRankAt, static_cast<uint32_t>(facts.shape.size()));
  for (size_t i = 0; i < facts.shape.size(); ++i) {
    store_le<int32_t>(header, kShapeAt + i * sizeof(int32_t), facts.shape[i]);
  }
  store_le<uint64_t>(
      header, size - kSizeBytes, static_cast<uint64_t>(elements.get()));
  store_le<uint64_t>(header, kChecksumAt, checksum_of(header));
  return into.subspan(size);
}

Result<StoredTensor> read_tensor(std::span<const std::byte> bytes) {
  const auto found = header_of(bytes);
  if (!found.ok()) {
    return found.status();
  }
  const std::span<const std::byte> header = found.value();
  if (const auto layout = load_le<uint16_t>(header, kLayoutAt);
      layout != kRowMajor) {
    return unsupported("row-major elements", layout);
  }
  StoredTensor tensor;
  const auto type = load_le<uint16_t>(header, kTypeAt);
  tensor.facts.type = static_cast<TensorType>(type);
  const int64_t item = element_bytes(tensor.facts.type);
  if (item == 0) {
    return unsupported("a known element type", type);
  }
  const auto rank = load_le<uint32_t>(header, kRankAt);
  if (!zeros_where_due(header, rank)) {
    return corrupt("zeros behind the shape", "other bytes");
  }
  for (size_t i = 0; i < rank; ++i) {
    const auto extent =
        load_le<int32_t>(header, kShapeAt + i * sizeof(int32_t));
    if (extent < 0) {
      return corrupt("extents of 0 or more", std::to_string(extent));
    }
    tensor.facts.shape.push_back(extent);
  }
  tensor.elements = bytes.subspan(header.size());
  const auto size = load_le<uint64_t>(header, header.size() - kSizeBytes);
  const auto wanted = product(item, tensor.facts.shape);
  if (!wanted || size != static_cast<uint64_t>(*wanted) ||
      size != tensor.elements.size()) {
    return corrupt(
        "the bytes of its shape", std::to_string(tensor.elements.size()));
  }
  return tensor;
}

} // namespace holdfast
