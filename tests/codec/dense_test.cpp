// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/dense.h"

#include <gtest/gtest.h>

#include <cstring>

#include "holdfast/base/bits.h"

namespace holdfast {
namespace {

constexpr ChannelRole kRoles[] = {ChannelRole::kKeys, ChannelRole::kValues};

std::vector<std::byte> encoded(
    const Codec& codec,
    ChannelRole role,
    const std::vector<float>& x,
    int64_t slot) {
  const auto dim = static_cast<int64_t>(x.size());
  std::vector<std::byte> plane(
      codec.planes(role, dim)[0].bytes.get(), std::byte(0));
  std::byte* planes[] = {plane.data()};
  codec.encode(role, x, slot, planes);
  return plane;
}

TEST(DenseCodec, F32GivesBackEveryBitPattern) {
  const DenseCodec codec(DenseFormat::kF32);
  std::vector<float> x(64), y(64);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = std::bit_cast<float>(uint32_t(i) * 0x04000001u); // NaNs as well
  }
  for (const ChannelRole role : kRoles) {
    const std::vector<std::byte> plane = encoded(codec, role, x, 63);
    const std::byte* planes[] = {plane.data()};
    codec.decode(role, planes, 63, y);
    EXPECT_EQ(std::memcmp(x.data(), y.data(), 256), 0);
  }
}

TEST(DenseCodec, KeepsEvery16BitPatternThroughItsOwnFormat) {
  for (const DenseFormat format : {DenseFormat::kF16, DenseFormat::kBf16}) {
    const DenseCodec codec(format);
    std::vector<float> x(512), y(512);
    for (uint32_t first = 0; first < 0x10000; first += 512) {
      for (uint32_t i = 0; i < 512; ++i) {
        const auto bits = static_cast<uint16_t>(first + i);
        x[i] =
            format == DenseFormat::kF16 ? f16_to_f32(bits) : bf16_to_f32(bits);
      }
      for (const ChannelRole role : kRoles) {
        const std::vector<std::byte> plane = encoded(codec, role, x, 5);
        const std::byte* planes[] = {plane.data()};
        codec.decode(role, planes, 5, y);
        ASSERT_EQ(std::memcmp(x.data(), y.data(), 2048), 0) << first;
      }
    }
  }
}

TEST(DenseCodec, PutsElementsWhereTheImagePageSays) {
  // Element d of the vector is d + 1; which place holds it, by hand.
  std::vector<float> x(96);
  for (size_t d = 0; d < x.size(); ++d) {
    x[d] = static_cast<float>(d + 1);
  }
  const auto at = [](const std::vector<std::byte>& plane, int64_t index) {
    uint16_t bits;
    std::memcpy(&bits, plane.data() + 2 * index, 2);
    return bf16_to_f32(bits);
  };
  const DenseCodec bf16(DenseFormat::kBf16);
  // Slot 21: group 1, token 5. Element 35: step 1, pair 1, second.
  auto plane = encoded(bf16, ChannelRole::kKeys, x, 21);
  EXPECT_EQ(at(plane, ((1 * 3 + 1) * 16 + 1) * 32 + 5 * 2 + 1), 36.0f);
  // Slot 35: step 1, pair 1, second. Element 21: tile 1, d 5.
  plane = encoded(bf16, ChannelRole::kValues, x, 35);
  EXPECT_EQ(at(plane, ((1 * 6 + 1) * 16 + 1) * 32 + 5 * 2 + 1), 22.0f);
  const DenseCodec f32(DenseFormat::kF32);
  plane = encoded(f32, ChannelRole::kKeys, x, 21);
  float value;
  std::memcpy(&value, plane.data() + 4 * ((1 * 96 + 35) * 16 + 5), 4);
  EXPECT_EQ(value, 36.0f);
  plane = encoded(f32, ChannelRole::kValues, x, 21);
  std::memcpy(&value, plane.data() + 4 * (21 * 96 + 35), 4);
  EXPECT_EQ(value, 36.0f);
}

TEST(DenseCodec, WritesTheBytesOfTheImagePagesExample) {
  const DenseCodec codec(DenseFormat::kBf16);
  const auto words = [&](ChannelRole role, int64_t at) {
    std::vector<std::byte> plane(
        codec.planes(role, 32)[0].bytes.get(), std::byte(0));
    std::byte* planes[] = {plane.data()};
    for (int64_t slot = 0; slot < 2; ++slot) {
      std::vector<float> x(32);
      for (int64_t d = 0; d < 32; ++d) {
        x[d] = static_cast<float>((slot == 0 ? 1 : -1) * (d + 1));
      }
      codec.encode(role, x, slot, planes);
    }
    std::vector<uint16_t> words(4);
    std::memcpy(words.data(), plane.data() + at, 8);
    return words;
  };
  using Words = std::vector<uint16_t>;
  EXPECT_EQ(
      words(ChannelRole::kKeys, 0x000),
      (Words{0x3f80, 0x4000, 0xbf80, 0xc000}));
  EXPECT_EQ(
      words(ChannelRole::kKeys, 0x040),
      (Words{0x4040, 0x4080, 0xc040, 0xc080}));
  EXPECT_EQ(
      words(ChannelRole::kValues, 0x000),
      (Words{0x3f80, 0xbf80, 0x4000, 0xc000}));
  EXPECT_EQ(
      words(ChannelRole::kValues, 0x400),
      (Words{0x4188, 0xc188, 0x4190, 0xc190}));
}

TEST(DenseCodec, PadsBf16KeysToWholeTilesWithZeros) {
  const DenseCodec codec(DenseFormat::kBf16);
  EXPECT_EQ(codec.planes(ChannelRole::kKeys, 80)[0].bytes, Bytes(64 * 96 * 2));
  EXPECT_EQ(
      codec.planes(ChannelRole::kValues, 80)[0].bytes, Bytes(64 * 80 * 2));
  std::vector<std::byte> plane(64 * 96 * 2, std::byte(0xff));
  std::byte* planes[] = {plane.data()};
  codec.encode(ChannelRole::kKeys, std::vector<float>(80, 1.0f), 9, planes);
  for (int64_t d = 80; d < 96; ++d) {
    uint16_t bits;
    std::memcpy(&bits, plane.data() + 2 * tiled_key_index(96, 9, d), 2);
    EXPECT_EQ(bits, 0);
  }
}

} // namespace
} // namespace holdfast
