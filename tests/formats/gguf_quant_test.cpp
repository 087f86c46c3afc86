// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/gguf_quant.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/base/bits.h"
#include "holdfast/base/status.h"

namespace holdfast {
namespace {

struct Golden {
  GgufType type;
  std::vector<std::byte> blocks;
  std::vector<float> values;
};

/// tests/data/make_gguf_golden.py describes the file and its source.
std::vector<Golden> read_golden() {
  std::ifstream in(HOLDFAST_TEST_DATA "/gguf_golden.bin", std::ios::binary);
  std::vector<Golden> all;
  uint32_t head[3];
  while (in.read(reinterpret_cast<char*>(head), sizeof(head))) {
    Golden one{static_cast<GgufType>(head[0]), {}, {}};
    one.blocks.resize(head[2]);
    one.values.resize(head[1]);
    in.read(reinterpret_cast<char*>(one.blocks.data()), head[2]);
    in.read(reinterpret_cast<char*>(one.values.data()), head[1] * 4);
    EXPECT_TRUE(in.good());
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<uint32_t> bits;
  for (const float value : values) {
    bits.push_back(std::bit_cast<uint32_t>(value));
  }
  return bits;
}

struct Codes {
  std::vector<uint8_t> codes;
  std::vector<float> scales;
  std::vector<float> offsets;
};

Codes unpack(GgufType type, const std::byte* row, size_t k) {
  const CodeFormat format = gguf_type_info(type).codes;
  const size_t groups = k / static_cast<size_t>(format.group);
  Codes out{
      std::vector<uint8_t>(k),
      std::vector<float>(groups),
      std::vector<float>(groups)};
  unpack_row(
      type,
      row,
      static_cast<int64_t>(k),
      out.codes.data(),
      out.scales.data(),
      format.has_offsets ? out.offsets.data() : nullptr);
  return out;
}

TEST(GgufQuant, ReadsTheValuesThatTheFormatsOwnPackageReads) {
  const std::vector<Golden> all = read_golden();
  ASSERT_EQ(all.size(), 12u);
  for (const Golden& golden : all) {
    SCOPED_TRACE(gguf_type_info(golden.type).name);
    const auto k = static_cast<int64_t>(golden.values.size());
    ASSERT_EQ(
        gguf_row_bytes(golden.type, k),
        static_cast<int64_t>(golden.blocks.size()));
    std::vector<float> values(golden.values.size());
    read_values(golden.type, golden.blocks.data(), k, values.data());
    EXPECT_EQ(bits_of(values), bits_of(golden.values));
  }
}

TEST(GgufQuant, UnpacksCodesScalesAndOffsetsThatMakeThoseValues) {
  int with_codes = 0;
  for (const Golden& golden : read_golden()) {
    const CodeFormat format = gguf_type_info(golden.type).codes;
    if (format.bits == 0) {
      continue;
    }
    ++with_codes;
    SCOPED_TRACE(gguf_type_info(golden.type).name);
    const Codes row =
        unpack(golden.type, golden.blocks.data(), golden.values.size());
    for (size_t i = 0; i < golden.values.size(); ++i) {
      const size_t group = i / static_cast<size_t>(format.group);
      const double scale = row.scales[group];
      const double offset = format.has_offsets
          ? double{row.offsets[group]}
          : -scale * (1 << (format.bits - 1));
      ASSERT_LT(row.codes[i], 1 << format.bits);
      // Exact in double, so rounded once, as the format's definition is.
      ASSERT_EQ(
          static_cast<float>(scale * row.codes[i] + offset), golden.values[i]);
    }
  }
  EXPECT_EQ(with_codes, 9);
}

TEST(GgufQuant, KeepsANegativeScaleAndTheFullRangeOfQ8) {
  std::vector<std::byte> block(34);
  const uint16_t scale = f32_to_f16(-0.5f);
  std::memcpy(block.data(), &scale, 2);
  block[2] = std::byte{0x80}; // -128
  block[3] = std::byte{0x7f}; // 127
  const Codes row = unpack(GgufType::kQ8_0, block.data(), 32);
  EXPECT_EQ(row.scales[0], -0.5f);
  EXPECT_EQ(row.codes[0], 0);
  EXPECT_EQ(row.codes[1], 255);
  EXPECT_EQ(row.codes[2], 128);
  float values[32];
  read_values(GgufType::kQ8_0, block.data(), 32, values);
  EXPECT_EQ(values[0], 64.0f);
  EXPECT_EQ(values[1], -63.5f);
}

TEST(GgufQuant, WritesExactlyTheRowsCodesScalesAndOffsets) {
  for (const Golden& golden : read_golden()) {
    const GgufTypeInfo& info = gguf_type_info(golden.type);
    if (info.codes.bits == 0) {
      continue;
    }
    SCOPED_TRACE(info.name);
    // One block at an odd address: what lies behind each output must stay.
    std::vector<std::byte> row(static_cast<size_t>(info.block_bytes) + 1);
    std::copy_n(golden.blocks.data(), info.block_bytes, row.data() + 1);
    const auto k = static_cast<size_t>(info.block);
    const size_t groups = k / static_cast<size_t>(info.codes.group);
    std::vector<uint8_t> codes(k + 1, 0xa5);
    std::vector<float> scales(groups + 1, 77.0f);
    std::vector<float> offsets(groups + 1, 77.0f);
    unpack_row(
        info.type,
        row.data() + 1,
        info.block,
        codes.data(),
        scales.data(),
        offsets.data());
    EXPECT_EQ(codes[k], 0xa5);
    EXPECT_EQ(scales[groups], 77.0f);
    EXPECT_EQ(offsets[groups], 77.0f);
    EXPECT_EQ(offsets[0] == 77.0f, !info.codes.has_offsets);
    const Codes whole = unpack(golden.type, golden.blocks.data(), k);
    EXPECT_TRUE(
        std::equal(whole.codes.begin(), whole.codes.end(), codes.begin()));
  }
}

TEST(GgufQuant, CarriesAnInfiniteScaleThroughInsteadOfInventingANumber) {
  std::vector<std::byte> block(18);
  const uint16_t infinity = 0x7c00;
  std::memcpy(block.data(), &infinity, 2);
  float values[32];
  read_values(GgufType::kQ4_0, block.data(), 32, values);
  EXPECT_TRUE(std::isinf(values[0])); // code 0 is -8
  block[2] = std::byte{0x08}; // code 8 is 0
  read_values(GgufType::kQ4_0, block.data(), 32, values);
  EXPECT_TRUE(std::isnan(values[0]));
}

TEST(GgufQuant, RefusesRowsThatAreNoWholeBlocksAndTypesWithoutCodes) {
  std::byte row[34] = {};
  float values[64];
  uint8_t codes[64];
  EXPECT_THROW(gguf_row_bytes(GgufType::kQ8_0, 31), Error);
  EXPECT_THROW(gguf_row_bytes(GgufType::kQ4_K, 128), Error);
  EXPECT_THROW(gguf_row_bytes(GgufType::kF32, -1), Error);
  EXPECT_THROW(read_values(GgufType::kQ8_0, row, 33, values), Error);
  EXPECT_THROW(
      unpack_row(GgufType::kQ8_0, row, 16, codes, values, nullptr), Error);
  EXPECT_THROW(
      unpack_row(GgufType::kF16, row, 16, codes, values, nullptr), Error);
  EXPECT_THROW(
      unpack_row(GgufType::kQ4_1, row, 32, codes, values, nullptr), Error);
  EXPECT_THROW(gguf_row_bytes(static_cast<GgufType>(10), 256), Error);
}

TEST(GgufQuant, KnowsItsTypesAndNamesTheOthers) {
  EXPECT_EQ(find_gguf_type(12)->type, GgufType::kQ4_K);
  EXPECT_EQ(find_gguf_type(10), nullptr);
  EXPECT_STREQ(gguf_type_name(10), "Q2_K");
  EXPECT_STREQ(gguf_type_name(30), "BF16");
  EXPECT_STREQ(gguf_type_name(39), "MXFP4");
  EXPECT_EQ(gguf_type_name(4), nullptr);
  EXPECT_EQ(gguf_type_name(4000000000u), nullptr);
  for (uint32_t id = 0; id < 64; ++id) {
    if (const GgufTypeInfo* info = find_gguf_type(id)) {
      EXPECT_STREQ(info->name, gguf_type_name(id));
    }
  }
}

} // namespace
} // namespace holdfast
