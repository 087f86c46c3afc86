// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/mlx_cache.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/env/posix_file_system.h"
#include "tests/formats/safetensors_support.h"

namespace holdfast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A header of the layout before 0.32.2, put together from parts.
struct Layout {
  std::string tensors;
  std::string metadata;
  size_t data = 0;

  Layout& f32(const std::string& name, const std::string& shape, size_t count) {
    return tensor(name, "F32", shape, 4 * count);
  }
  Layout& tensor(
      const std::string& name,
      const std::string& type,
      const std::string& shape,
      size_t bytes) {
    tensors += ",\"" + name + R"(":{"dtype":")" + type + R"(","shape":[)" +
        shape + R"(],"data_offsets":[)" + std::to_string(data) + "," +
        std::to_string(data + bytes) + "]}";
    data += bytes;
    return *this;
  }
  Layout& text(const std::string& key, const std::string& value) {
    metadata += (metadata.empty() ? "\"" : ",\"") + key + "\":\"" + value + '"';
    return *this;
  }
  Result<MlxCache> read() {
    file = open_safetensors(
               "{\"__metadata__\":{" + metadata + "}" + tensors + "}", data)
               .value();
    return read_mlx_cache(*file);
  }
  std::unique_ptr<SafetensorsFile> file; // the cache points into it
};

Layout ring(int64_t room, int64_t offset, int64_t next, int64_t keep = 0) {
  Layout layout;
  const std::string shape = "1,1," + std::to_string(room) + ",2";
  layout.f32("0.0", shape, static_cast<size_t>(2 * room));
  layout.f32("0.1", shape, static_cast<size_t>(2 * room));
  layout.text("2.0", "RotatingKVCache")
      .text("0.0.0", std::to_string(keep))
      .text("0.0.1", "4")
      .text("0.0.2", std::to_string(offset))
      .text("0.0.3", std::to_string(next));
  return layout;
}

TEST(MlxCache, PutsTheSlotsOfARingInTheOrderOfTheirPositions) {
  const auto slots =
      [](int64_t room, int64_t offset, int64_t next, int64_t keep = 0) {
        return ring(room, offset, next, keep).read().value().layers[0].slots();
      };
  EXPECT_THAT(slots(3, 3, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(slots(4, 3, 3), ElementsAre(0, 1, 2)); // room to grow
  EXPECT_THAT(slots(4, 9, 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(slots(4, 9, 1), ElementsAre(1, 2, 3, 0));
  EXPECT_THAT(slots(4, 9, 2, 1), ElementsAre(2, 3, 1)); // slot 0 is kept
}

TEST(MlxCache, ARingThatContradictsItselfIsRefused) {
  for (auto& [room, offset, next, keep] : std::vector<std::array<int64_t, 4>>{
           {4, 3, 5, 0},
           {4, 3, 2, 0},
           {4, 9, 0, 1},
           {4, 9, 5, 0},
           {4, 9, 2, 5},
           {4, 5000000000, 2, 0}}) {
    EXPECT_EQ(
        ring(room, offset, next, keep).read().status().code(),
        ErrorCode::kCorrupt)
        << room << " " << offset << " " << next << " " << keep;
  }
}

TEST(MlxCache, WhatIsNoneOfItsClassesIsRefusedByName) {
  EXPECT_THAT(
      Layout().text("2.0", "ChunkedKVCache").read().status().text(),
      HasSubstr("layer 0: expected KVCache"));
  EXPECT_EQ(
      Layout().text("k", "v").read().status().code(), ErrorCode::kCorrupt);
  Layout batch;
  batch.f32("0.0", "2,1,1,1", 2).f32("0.1", "2,1,1,1", 2);
  const auto refused = batch.text("2.0", "KVCache").read();
  EXPECT_EQ(refused.status().code(), ErrorCode::kUnsupported);
  EXPECT_THAT(refused.status().text(), HasSubstr("one sequence"));
}

TEST(MlxCache, TensorsThatDoNotFitEachOtherAreRefused) {
  Layout none;
  EXPECT_THAT(
      none.text("2.0", "KVCache").read().status().text(), HasSubstr("0.0"));
  Layout heads;
  heads.f32("0.0", "1,1,2,1", 2).f32("0.1", "1,2,1,1", 2);
  EXPECT_THAT(
      heads.text("2.0", "KVCache").read().status().text(),
      HasSubstr("same heads"));
  Layout codes;
  for (const char* of : {"0.0", "0.1"}) {
    codes.tensor(of + std::string(".0"), "U32", "1,1,1,3", 12)
        .f32(of + std::string(".1"), "1,1,1,1", 1)
        .f32(of + std::string(".2"), "1,1,1,1", 1);
  }
  codes.text("2.0", "QuantizedKVCache")
      .text("0.0.0", "1")
      .text("0.0.1", "32")
      .text("0.0.2", "4");
  EXPECT_THAT(codes.read().status().text(), HasSubstr("codes, scales"));
}

// 0 to 31 at 3 bits, in one vector of a group of 32: three words.
TEST(MlxCache, DecodesCodesThatCrossWords) {
  Layout layout;
  for (const char* of : {"0.0", "0.1"}) {
    layout.tensor(of + std::string(".0"), "U32", "1,1,1,3", 12)
        .f32(of + std::string(".1"), "1,1,1,1", 1)
        .f32(of + std::string(".2"), "1,1,1,1", 1);
  }
  layout.text("2.0", "QuantizedKVCache")
      .text("0.0.0", "1")
      .text("0.0.1", "32")
      .text("0.0.2", "3");
  const MlxCache cache = layout.read().value();
  const MlxLayerCache& layer = cache.layers[0];
  EXPECT_EQ(layer.dim(false), 32);
  const auto bytes = layout.file->read(*layer.tensors[0]).value();
  const auto scale = layout.file->read_floats(*layer.tensors[1]).value()[0];
  const auto bias = layout.file->read_floats(*layer.tensors[2]).value()[0];
  const auto got = read_mlx_channel(*layout.file, layer, false).value();
  ASSERT_EQ(got.size(), 32u);
  for (size_t i = 0; i < 32; ++i) {
    uint32_t code = 0;
    for (size_t bit = 0; bit < 3; ++bit) {
      const size_t at = 3 * i + bit;
      code |= (std::to_integer<uint32_t>(bytes[at / 8]) >> (at % 8) & 1) << bit;
    }
    EXPECT_EQ(got[i], bias + scale * static_cast<float>(code)) << i;
  }
}

} // namespace
} // namespace holdfast::test
