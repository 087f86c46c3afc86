// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/formats/gguf_support.h"
#include "tests/formats/gguf_touch.h"

namespace holdfast::test {
namespace {

TEST(Gguf, ReadsEveryScalarTypeByItsKey) {
  const std::string bytes = small_gguf().bytes();
  const GgufFile file = parse(bytes).value();
  EXPECT_EQ(file.version(), 3);
  EXPECT_EQ(file.integer("a.u8"), 200);
  EXPECT_EQ(file.integer("a.i8"), -100);
  EXPECT_EQ(file.integer("a.u16"), 60000);
  EXPECT_EQ(file.integer("a.i16"), -30000);
  EXPECT_EQ(file.integer("a.u32"), 4000000000);
  EXPECT_EQ(file.integer("a.i32"), -2000000000);
  EXPECT_EQ(file.integer("a.u64"), int64_t{1} << 62);
  EXPECT_EQ(file.integer("a.i64"), -(int64_t{1} << 62));
  EXPECT_EQ(file.number("a.f32"), double{0.1f});
  EXPECT_EQ(file.number("a.f64"), 0.1);
  EXPECT_EQ(file.boolean("a.yes"), true);
  EXPECT_EQ(file.boolean("a.no"), false);
  EXPECT_EQ(file.text("general.architecture"), "test");
}

TEST(Gguf, ReadsArraysInPlace) {
  const std::string bytes = small_gguf().bytes();
  const GgufFile file = parse(bytes).value();
  const GgufStrings texts = file.texts("a.texts").value();
  EXPECT_EQ(texts.size(), 3);
  EXPECT_THAT(
      std::vector<std::string_view>(texts.begin(), texts.end()),
      testing::ElementsAre("one", "", "three \xe2\x96\x81"));
  const GgufFloats floats = file.numbers("a.floats").value();
  ASSERT_EQ(floats.size(), 2);
  EXPECT_EQ(floats[0], 1.5f);
  EXPECT_EQ(floats[1], -2.0f);
  const GgufIntegers ints = file.integers("a.ints").value();
  ASSERT_EQ(ints.size(), 3);
  EXPECT_EQ(ints[1], -4);
  const GgufIntegers bools = file.integers("a.bools").value();
  ASSERT_EQ(bools.size(), 2);
  EXPECT_EQ(bools[0], 1);
  EXPECT_EQ(bools[1], 0);
}

TEST(Gguf, ReadsIntegerArraysOfEveryWidth) {
  GgufImage image;
  image.add_values<uint8_t>("u8", GgufValue::kU8, {1, 255});
  image.add_values<int8_t>("i8", GgufValue::kI8, {1, -1});
  image.add_values<uint16_t>("u16", GgufValue::kU16, {1, 65535});
  image.add_values<int16_t>("i16", GgufValue::kI16, {1, -2});
  image.add_values<uint32_t>("u32", GgufValue::kU32, {1, 4294967295u});
  image.add_values<int64_t>("i64", GgufValue::kI64, {1, -3});
  const std::string bytes = image.bytes();
  const GgufFile file = parse(bytes).value();
  EXPECT_EQ(file.integers("u8").value()[1], 255);
  EXPECT_EQ(file.integers("i8").value()[1], -1);
  EXPECT_EQ(file.integers("u16").value()[1], 65535);
  EXPECT_EQ(file.integers("i16").value()[1], -2);
  EXPECT_EQ(file.integers("u32").value()[1], 4294967295);
  EXPECT_EQ(file.integers("i64").value()[1], -3);
}

TEST(Gguf, GivesNothingForAnAbsentKey) {
  const std::string bytes = small_gguf().bytes();
  const GgufFile file = parse(bytes).value();
  EXPECT_EQ(file.find("b"), nullptr);
  EXPECT_EQ(file.integer("b"), std::nullopt);
  EXPECT_EQ(file.number("b"), std::nullopt);
  EXPECT_EQ(file.boolean("b"), std::nullopt);
  EXPECT_EQ(file.text("b"), std::nullopt);
  EXPECT_FALSE(file.texts("b").has_value());
  EXPECT_FALSE(file.numbers("b").has_value());
  EXPECT_FALSE(file.integers("b").has_value());
  EXPECT_EQ(file.tensor("b"), nullptr);
}

TEST(Gguf, RefusesAKeyOfAnotherTypeWithFileFieldAndOffset) {
  GgufImage image;
  image.add<float>("f", GgufValue::kF32, 1.0f);
  image.add<uint64_t>("big", GgufValue::kU64, uint64_t{1} << 63);
  image.add_values<uint64_t>("wide", GgufValue::kU64, {1});
  const std::string bytes = image.bytes();
  const GgufFile file = parse(bytes).value();
  const std::string at = "m.gguf: f at offset 37: expected ";
  EXPECT_EQ(thrown([&] { file.integer("f"); }), at + "an integer, got F32");
  EXPECT_EQ(thrown([&] { file.boolean("f"); }), at + "BOOL, got F32");
  EXPECT_EQ(thrown([&] { file.text("f"); }), at + "STRING, got F32");
  EXPECT_EQ(
      thrown([&] { file.texts("f"); }), at + "an array of STRING, got F32");
  EXPECT_EQ(
      thrown([&] { file.numbers("f"); }), at + "an array of F32, got F32");
  EXPECT_EQ(
      thrown([&] { file.integers("f"); }),
      at + "an array of integers, got F32");
  EXPECT_EQ(
      thrown([&] { file.integer("big"); }),
      "m.gguf: big at offset 56: expected at most 9223372036854775807, got "
      "9223372036854775808");
  const std::string wide = "m.gguf: wide at offset 92: expected ";
  EXPECT_EQ(
      thrown([&] { file.integers("wide"); }),
      wide + "an array of integers, got an array of U64");
  EXPECT_EQ(
      thrown([&] { file.numbers("wide"); }),
      wide + "an array of F32, got an array of U64");
  EXPECT_EQ(
      thrown([&] { file.texts("wide"); }),
      wide + "an array of STRING, got an array of U64");
  EXPECT_EQ(
      thrown([&] { file.number("wide"); }),
      wide + "F32 or F64, got an array of U64");
}

TEST(Gguf, WordsARefusalForItsReader) {
  const std::string bytes = small_gguf().bytes();
  const GgufFile file = parse(bytes).value();
  EXPECT_STREQ(
      file.refusal("b.count", "a number of layers", "none").what(),
      "m.gguf: b.count: expected a number of layers, got none");
  const GgufKey* key = file.find("a.u8");
  ASSERT_NE(key, nullptr);
  EXPECT_EQ(
      file.refusal("a.u8", "at most 100", "200").what(),
      "m.gguf: a.u8 at offset " + std::to_string(key->offset) +
          ": expected at most 100, got 200");
}

TEST(Gguf, PlacesTensorsBehindTheHeader) {
  const GgufImage image = small_gguf();
  const std::string bytes = image.bytes();
  const GgufFile file = parse(bytes).value();
  const auto data = static_cast<int64_t>(image.aligned(image.header().size()));
  EXPECT_EQ(file.data_offset(), data);
  ASSERT_EQ(file.tensors().size(), 3u);
  const GgufTensor* quant = file.tensor("quant");
  ASSERT_EQ(quant, &file.tensors()[1]);
  EXPECT_EQ(quant->type, GgufType::kQ8_0);
  EXPECT_EQ(quant->dims, 2);
  EXPECT_THAT(quant->ne, testing::ElementsAre(64, 3, 1, 1));
  EXPECT_EQ(quant->offset, data + 32);
  EXPECT_EQ(quant->bytes, 3 * 2 * 34);
  EXPECT_EQ(quant->rows(), 3);
  EXPECT_EQ(quant->row_bytes(), 68);
  EXPECT_EQ(file.data(*quant).size(), 204u);
  EXPECT_EQ(file.data(*quant)[0], std::byte{(31 * 32 + 7) & 255});
  const GgufTensor* deep = file.tensor("deep");
  ASSERT_NE(deep, nullptr);
  EXPECT_EQ(deep->rows(), 4);
  EXPECT_EQ(deep->offset + deep->bytes, file.size());
}

TEST(Gguf, HonoursTheFilesOwnAlignment) {
  GgufImage image;
  image.alignment = 128;
  image.add<uint32_t>("general.alignment", GgufValue::kU32, 128);
  image.add_tensor("a", GgufType::kF16, {3});
  image.add_tensor("b", GgufType::kF16, {3});
  const std::string bytes = image.bytes();
  const GgufFile file = parse(bytes).value();
  EXPECT_EQ(file.alignment(), 128);
  EXPECT_EQ(file.tensor("a")->offset, 128);
  EXPECT_EQ(file.tensor("b")->offset, 256);
}

TEST(Gguf, ReadsVersionTwoAndAFileWithoutTensors) {
  GgufImage image = small_gguf();
  image.version = 2;
  EXPECT_EQ(complaint(image), "ok");
  GgufImage empty;
  EXPECT_EQ(complaint(empty.header()), "ok");
}

TEST(Gguf, ReadsTheExampleOfTheFormatPage) {
  const auto zeros = [](size_t count) { return std::string(count, '\0'); };
  // docs/gguf.md prints these 100 bytes.
  const std::string bytes = "GGUF\x03" + zeros(3) + "\x01" + zeros(7) + // 0x00
      "\x01" + zeros(7) + "\x01" + zeros(7) + // 0x10
      "n\x04" + zeros(3) + "\x05" + zeros(3) + "\x01" + zeros(6) + // 0x20
      zeros(1) + "t\x01" + zeros(3) + "\x01" + zeros(9) + // 0x30
      zeros(32) + zeros(2) + "\x80\x3f"; // 0x40 to 0x63
  ASSERT_EQ(bytes.size(), 100u);
  const GgufFile file = parse(bytes).value();
  EXPECT_EQ(file.integer("n"), 5);
  const GgufTensor* tensor = file.tensor("t");
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->offset, 0x60);
  float value = 0;
  read_values(tensor->type, file.data(*tensor).data(), 1, &value);
  EXPECT_EQ(value, 1.0f);
}

TEST(Gguf, FindsEachOfManyKeysAndTensors) {
  GgufImage image;
  for (uint32_t i = 0; i < 1000; ++i) {
    // Out of order on purpose.
    const std::string id = std::to_string(i * 7919 % 1000);
    image.add<uint32_t>("k" + id, GgufValue::kU32, i);
    image.add_tensor("t" + id, GgufType::kF32, {i + 1});
  }
  const std::string bytes = image.bytes();
  const GgufFile file = parse(bytes).value();
  for (uint32_t i = 0; i < 1000; ++i) {
    const std::string id = std::to_string(i * 7919 % 1000);
    EXPECT_EQ(file.integer("k" + id), i);
    ASSERT_NE(file.tensor("t" + id), nullptr);
    EXPECT_EQ(file.tensor("t" + id)->ne[0], i + 1);
  }
}

TEST(Gguf, MapsAFileAndKeepsItsViewsWhenMoved) {
  const std::string path =
      testing::TempDir() + std::to_string(getpid()) + "_read.gguf";
  const std::string bytes = small_gguf().bytes();
  std::ofstream(path, std::ios::binary) << bytes;
  GgufFile first = GgufFile::open(path).value();
  const GgufFile file = std::move(first);
  EXPECT_EQ(file.name(), path);
  ASSERT_NE(file.mapping(), nullptr);
  EXPECT_EQ(file.text("general.architecture"), "test");
  const GgufFile parsed = parse(bytes).value();
  EXPECT_EQ(parsed.mapping(), nullptr);
  EXPECT_EQ(touch(file), touch(parsed));
  std::remove(path.c_str());
}

TEST(Gguf, SaysThatAFileIsMissingOrEmpty) {
  const std::string path =
      testing::TempDir() + std::to_string(getpid()) + "_absent.gguf";
  EXPECT_EQ(GgufFile::open(path).status().code(), ErrorCode::kNotFound);
  std::ofstream(path, std::ios::binary).close();
  const Status status = GgufFile::open(path).status();
  EXPECT_EQ(status.code(), ErrorCode::kCorrupt);
  EXPECT_EQ(
      status.text(),
      path +
          ": GGUF.magic at offset 0: expected 4 bytes, got 0 bytes to the end "
          "of the file");
  std::remove(path.c_str());
}

} // namespace
} // namespace holdfast::test
