// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A stored tensor says its type and shape, and every field is checked.

#include "holdfast/objects/tensor_format.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "holdfast/base/checksum.h"
#include "holdfast/tier/little_endian.h"
#include "tests/code_of.h"

namespace holdfast::test {
namespace {

std::vector<std::byte> stored(const TensorFacts& facts) {
  std::vector<std::byte> bytes(static_cast<size_t>(stored_bytes(facts).get()));
  const auto elements = write_tensor_header(facts, bytes);
  for (size_t i = 0; i < elements.size(); ++i) {
    elements[i] = static_cast<std::byte>(i * 7 + 1);
  }
  return bytes;
}

ErrorCode read_code(std::span<const std::byte> bytes) {
  return read_tensor(bytes).status().code();
}

/// With the right checksum, as a writer of other bytes would make it.
void seal(std::vector<std::byte>& bytes) {
  const auto size = load_le<uint16_t>(bytes, 10);
  store_le<uint64_t>(bytes, 24, 0);
  store_le<uint64_t>(bytes, 24, checksum(std::span(bytes).first(size)));
}

template <class T>
ErrorCode changed(std::vector<std::byte> bytes, size_t at, T value) {
  store_le<T>(bytes, at, value);
  seal(bytes);
  return read_code(bytes);
}

TEST(TensorFormat, GivesBackEveryTypeAndRank) {
  for (uint16_t type = 1; type <= 14; ++type) {
    for (int rank = 0; rank <= kMostTensorRank; rank += rank < 5 ? 1 : 59) {
      TensorFacts facts{static_cast<TensorType>(type), {}};
      for (int i = 0; i < rank; ++i) {
        facts.shape.push_back(i < 4 ? i + 1 : 1);
      }
      const auto bytes = stored(facts);
      const Result<StoredTensor> read = read_tensor(bytes);
      ASSERT_TRUE(read.ok()) << read.status().text();
      EXPECT_EQ(read.value().facts, facts);
      EXPECT_EQ(std::ssize(read.value().elements), element_bytes(facts).get());
      const auto offset = read.value().elements.data() - bytes.data();
      EXPECT_EQ(offset % kTensorAlignment, 0);
      // What a buffer of MLX's has in front of its elements.
      EXPECT_EQ(
          load_le<int64_t>(bytes, static_cast<size_t>(offset) - 8),
          element_bytes(facts).get());
    }
  }
}

TEST(TensorFormat, KeepsATensorWithoutElements) {
  const TensorFacts facts{
      TensorType::kF64,
      {std::numeric_limits<int32_t>::max(),
       0,
       std::numeric_limits<int32_t>::max()}};
  const auto bytes = stored(facts);
  EXPECT_EQ(bytes.size(), 64u);
  EXPECT_EQ(read_tensor(bytes).value().facts, facts);
}

TEST(TensorFormat, TheWorkedExampleOfThePageIsTheBytesOfATensor) {
  const auto bytes = stored({TensorType::kBF16, {2, 3}});
  std::string lines;
  for (size_t i = 0; i < bytes.size(); ++i) {
    char text[8];
    if (i % 16 == 0) {
      std::snprintf(text, sizeof text, "%s%02x ", i == 0 ? "" : "\n", int(i));
      lines += text;
    }
    std::snprintf(text, sizeof text, " %02x", static_cast<int>(bytes[i]));
    lines += text;
  }
  EXPECT_EQ(
      lines,
      "00  68 66 74 65 6e 73 6f 72 01 00 40 00 0b 00 01 00\n"
      "10  02 00 00 00 00 00 00 00 b0 c4 ff 6f 6e c7 23 c1\n"
      "20  02 00 00 00 03 00 00 00 00 00 00 00 00 00 00 00\n"
      "30  00 00 00 00 00 00 00 00 0c 00 00 00 00 00 00 00\n"
      "40  01 08 0f 16 1d 24 2b 32 39 40 47 4e");
}

TEST(TensorFormat, EveryFieldIsChecked) {
  const auto good = stored({TensorType::kF32, {2, 3}});
  ASSERT_EQ(read_code(good), ErrorCode::kOk);
  EXPECT_EQ(changed<uint8_t>(good, 0, 'H'), ErrorCode::kCorrupt);
  EXPECT_EQ(changed<uint16_t>(good, 8, 2), ErrorCode::kUnsupported);
  EXPECT_EQ(changed<uint16_t>(good, 12, 0), ErrorCode::kUnsupported);
  EXPECT_EQ(changed<uint16_t>(good, 12, 15), ErrorCode::kUnsupported);
  EXPECT_EQ(changed<uint16_t>(good, 12, 13), ErrorCode::kCorrupt); // f64
  EXPECT_EQ(changed<uint16_t>(good, 14, 2), ErrorCode::kUnsupported);
  EXPECT_EQ(changed<uint32_t>(good, 16, 1), ErrorCode::kCorrupt); // rank
  EXPECT_EQ(changed<uint32_t>(good, 16, 3), ErrorCode::kCorrupt);
  EXPECT_EQ(changed<uint32_t>(good, 16, 65), ErrorCode::kCorrupt);
  EXPECT_EQ(changed<uint32_t>(good, 16, 0xffffffff), ErrorCode::kCorrupt);
  EXPECT_EQ(changed<uint32_t>(good, 20, 1), ErrorCode::kCorrupt); // reserved
  EXPECT_EQ(changed<int32_t>(good, 32, -2), ErrorCode::kCorrupt);
  EXPECT_EQ(changed<int32_t>(good, 32, 3), ErrorCode::kCorrupt);
  EXPECT_EQ(changed<uint8_t>(good, 40, 1), ErrorCode::kCorrupt); // padding
  EXPECT_EQ(changed<uint64_t>(good, 56, 23), ErrorCode::kCorrupt); // size
  auto other = good;
  store_le<uint64_t>(other, 24, load_le<uint64_t>(other, 24) + 1);
  EXPECT_EQ(read_code(other), ErrorCode::kCorrupt);
  auto header = good;
  store_le<uint16_t>(header, 10, 128);
  EXPECT_EQ(read_code(header), ErrorCode::kCorrupt);
}

TEST(TensorFormat, NoFlippedBitOfAHeaderIsRead) {
  const auto good = stored({TensorType::kU16, {4, 1, 5}});
  for (size_t bit = 0; bit < size_t{64} * 8; ++bit) {
    auto bytes = good;
    bytes[bit / 8] ^= std::byte(1u << (bit % 8));
    EXPECT_NE(read_code(bytes), ErrorCode::kOk) << bit;
  }
}

TEST(TensorFormat, NoOtherLengthIsRead) {
  auto bytes = stored({TensorType::kI8, {3, 5}});
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(read_code(std::span(bytes).first(size)), ErrorCode::kCorrupt);
  }
  bytes.emplace_back();
  EXPECT_EQ(read_code(bytes), ErrorCode::kCorrupt);
}

TEST(TensorFormat, AShapeWhoseProductOverflowsIsRefused) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  const TensorFacts huge{TensorType::kU8, {kMost, kMost, kMost, kMost, kMost}};
  EXPECT_EQ(code_of([&] { element_bytes(huge); }), ErrorCode::kInvalidArgument);
  // 2^32 x 2^32 elements of a byte would be 0 in 64 bits.
  auto bytes = stored({TensorType::kU8, {0, 1, 1, 1}});
  for (size_t i = 0; i < 4; ++i) {
    store_le<int32_t>(bytes, 32 + 4 * i, 1 << 16);
  }
  seal(bytes);
  EXPECT_EQ(read_code(bytes), ErrorCode::kCorrupt);
}

TEST(TensorFormat, RefusesWhatItCannotWrite) {
  const auto refused = [](const TensorFacts& facts) {
    return code_of([&] { stored(facts); });
  };
  EXPECT_EQ(refused({TensorType::kF32, {2, -1}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      refused({TensorType::kF32, std::vector<int32_t>(65, 1)}),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused({TensorType{0}, {1}}), ErrorCode::kInvalidArgument);
  std::vector<std::byte> small(64);
  EXPECT_EQ(
      code_of([&] {
        write_tensor_header({TensorType::kU8, {1}}, small);
      }),
      ErrorCode::kInvalidArgument);
}

} // namespace
} // namespace holdfast::test
