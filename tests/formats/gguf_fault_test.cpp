// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One test per field and fault of the header and the metadata.

#include <gtest/gtest.h>

#include "tests/formats/gguf_support.h"

namespace holdfast::test {
namespace {

constexpr uint32_t kString = 8;
constexpr uint32_t kArray = 9;

TEST(GgufFault, RefusesAnotherMagic) {
  GgufImage image = small_gguf();
  image.magic = "GG\n\xff";
  EXPECT_EQ(
      complaint(image),
      "corrupt: m.gguf: GGUF.magic at offset 0: expected \"GGUF\", got "
      "\"GG\\x0a\\xff\"");
}

TEST(GgufFault, RefusesOtherVersionsAndBigEndianFiles) {
  GgufImage image = small_gguf();
  const std::string start =
      "unsupported: m.gguf: GGUF.version at offset 4: expected 2 or 3, "
      "little-endian, got ";
  image.version = 1;
  EXPECT_EQ(complaint(image), start + "1");
  image.version = 4;
  EXPECT_EQ(complaint(image), start + "4");
  image.version = 3u << 24;
  EXPECT_EQ(complaint(image), start + "a big-endian file");
}

TEST(GgufFault, RefusesMoreTensorsThanTheFileCanHold) {
  GgufImage image;
  image.tensor_count = UINT64_MAX;
  EXPECT_EQ(
      complaint(image),
      "corrupt: m.gguf: GGUF.tensor_count at offset 8: expected at most 0, as "
      "fit in the file, got 18446744073709551615");
  image.tensor_count = 65537;
  EXPECT_EQ(
      complaint(image.header() + std::string(33 * 65537, '\0')),
      "corrupt: m.gguf: GGUF.tensor_count at offset 8: expected at most 65536, "
      "got 65537");
}

TEST(GgufFault, RefusesMoreKeysThanTheFileCanHold) {
  GgufImage image;
  image.key_count = uint64_t{1} << 60;
  EXPECT_EQ(
      complaint(image.header() + std::string(30, '\0')),
      "corrupt: m.gguf: GGUF.kv_count at offset 16: expected at most 2, as fit "
      "in the file, got 1152921504606846976");
  image.key_count = 65537;
  EXPECT_EQ(
      complaint(image.header() + std::string(14 * 65537, '\0')),
      "corrupt: m.gguf: GGUF.kv_count at offset 16: expected at most 65536, "
      "got 65537");
}

TEST(GgufFault, RefusesACountAboveTheEntriesThatAreThere) {
  GgufImage image;
  image.add<uint32_t>("a", GgufValue::kU32, 1);
  image.key_count = 2;
  // Zeros behind the first key: a second one with an empty name.
  EXPECT_EQ(
      complaint(image.header() + std::string(64, '\0')),
      "corrupt: m.gguf: metadata key 1 at offset 41: expected a name of 1 to "
      "65535 bytes, got 0 bytes");
}

TEST(GgufFault, RefusesAKeyNameBeyondTheEnd) {
  GgufImage image;
  image.key_count = 1;
  std::string bytes = image.header();
  put<uint64_t>(bytes, UINT64_MAX);
  bytes += "abcdefgh";
  EXPECT_EQ(
      complaint(bytes),
      "corrupt: m.gguf: metadata key 0 at offset 32: expected "
      "18446744073709551615 bytes, got 8 bytes to the end of the file");
}

TEST(GgufFault, RefusesAnEmptyAndAnEndlessKeyName) {
  GgufImage empty;
  empty.add<uint32_t>("", GgufValue::kU32, 1);
  EXPECT_EQ(
      complaint(empty),
      "corrupt: m.gguf: metadata key 0 at offset 24: expected a name of 1 to "
      "65535 bytes, got 0 bytes");
  GgufImage endless;
  endless.add<uint32_t>(std::string(65536, 'x'), GgufValue::kU32, 1);
  EXPECT_EQ(
      complaint(endless),
      "corrupt: m.gguf: metadata key 0 at offset 24: expected a name of 1 to "
      "65535 bytes, got 65536 bytes");
}

TEST(GgufFault, RefusesAnUnknownValueType) {
  GgufImage image;
  image.add_raw("a.key", 13, "1234");
  EXPECT_EQ(
      complaint(image),
      "corrupt: m.gguf: a.key (type) at offset 37: expected a value type of 0 "
      "to 12, got 13");
}

TEST(GgufFault, KeepsTheLineWholeWhenANameHoldsControlBytes) {
  GgufImage image;
  image.add_raw(std::string("a\n\0\xe2", 4), 99, "1234");
  EXPECT_EQ(
      complaint(image),
      "corrupt: m.gguf: a\\x0a\\x00\\xe2 (type) at offset 36: expected a value "
      "type of 0 to 12, got 99");
  GgufImage large;
  large.add_raw(std::string(65535, 'y'), 99, "1234");
  EXPECT_LT(complaint(large).size(), 200u);
}

TEST(GgufFault, RefusesABooleanThatIsNeitherZeroNorOne) {
  GgufImage scalar;
  scalar.add<uint8_t>("b", GgufValue::kBool, 2);
  EXPECT_EQ(
      complaint(scalar),
      "corrupt: m.gguf: b at offset 37: expected a boolean of 0 or 1, got 2");
  GgufImage array;
  array.add_values<uint8_t>("b", GgufValue::kBool, {0, 1, 255});
  EXPECT_EQ(
      complaint(array),
      "corrupt: m.gguf: b at offset 51: expected a boolean of 0 or 1, got 255");
}

TEST(GgufFault, RefusesATextBeyondTheEnd) {
  GgufImage image;
  std::string length;
  put<uint64_t>(length, 1000);
  image.add_raw("t", kString, length + "abc");
  EXPECT_EQ(
      complaint(image.header()),
      "corrupt: m.gguf: t at offset 45: expected 1000 bytes, got 3 bytes to "
      "the end of the file");
}

TEST(GgufFault, RefusesAScalarCutByTheEnd) {
  GgufImage image;
  image.add_raw("n", static_cast<uint32_t>(GgufValue::kU64), "abc");
  EXPECT_EQ(
      complaint(image.header()),
      "corrupt: m.gguf: n at offset 37: expected 8 bytes, got 3 bytes to the "
      "end of the file");
}

TEST(GgufFault, RefusesAnArrayCountBeyondTheEnd) {
  GgufImage image;
  image.add_array("a", 5, uint64_t{1} << 62, "abcdefgh"); // * 4 overflows
  EXPECT_EQ(
      complaint(image.header()),
      "corrupt: m.gguf: a (count) at offset 41: expected at most 2 elements, "
      "as fit in the file, got 4611686018427387904");
  GgufImage texts;
  texts.add_array("a", kString, UINT64_MAX, std::string(16, '\0'));
  EXPECT_EQ(
      complaint(texts.header()),
      "corrupt: m.gguf: a (count) at offset 41: expected at most 2 elements, "
      "as fit in the file, got 18446744073709551615");
}

TEST(GgufFault, RefusesAnArrayTextBeyondTheEnd) {
  GgufImage image;
  std::string length;
  put<uint64_t>(length, UINT64_MAX - 7); // + 8 overflows
  image.add_array("a", kString, 2, gguf_string("ok") + length);
  EXPECT_EQ(
      complaint(image.header()),
      "corrupt: m.gguf: a (a string of the array) at offset 67: expected "
      "18446744073709551608 bytes, got 0 bytes to the end of the file");
}

TEST(GgufFault, RefusesArraysInArraysAndUnknownElements) {
  GgufImage nested;
  std::string inner;
  put<uint32_t>(inner, 5);
  put<uint64_t>(inner, 0);
  nested.add_array("a", kArray, 1, inner);
  EXPECT_EQ(
      complaint(nested),
      "unsupported: m.gguf: a (element type) at offset 37: expected plain "
      "values, got arrays in an array");
  GgufImage unknown;
  unknown.add_array("a", 0xffffffffu, 1, "1234");
  EXPECT_EQ(
      complaint(unknown),
      "corrupt: m.gguf: a (element type) at offset 37: expected a value type "
      "of 0 to 12, got 4294967295");
}

TEST(GgufFault, RefusesAKeyThatStandsTwice) {
  GgufImage image;
  image.add<uint32_t>("a", GgufValue::kU32, 1);
  image.add<uint32_t>("b", GgufValue::kU32, 1);
  image.add<float>("a", GgufValue::kF32, 1);
  EXPECT_EQ(
      complaint(image),
      "corrupt: m.gguf: a at offset 71: expected a key once, got it again, "
      "first at offset 37");
}

TEST(GgufFault, RefusesAnAlignmentThatIsNoPowerOfTwo) {
  for (const uint32_t alignment : {0u, 4u, 48u, 0x80000000u}) {
    GgufImage image;
    image.add<uint32_t>("general.alignment", GgufValue::kU32, alignment);
    EXPECT_EQ(
        complaint(image),
        "corrupt: m.gguf: general.alignment at offset 53: expected a power of "
        "two from 8 to 2^30, got " +
            std::to_string(alignment));
  }
  GgufImage text;
  text.add_text("general.alignment", "32");
  EXPECT_EQ(
      complaint(text),
      "corrupt: m.gguf: general.alignment at offset 53: expected an integer, "
      "got STRING");
}

TEST(GgufFault, RefusesAModelSplitOverFiles) {
  GgufImage image = small_gguf();
  image.add<uint16_t>("split.count", GgufValue::kU16, 1);
  EXPECT_EQ(complaint(image), "ok");
  GgufImage split;
  split.add<uint16_t>("split.count", GgufValue::kU16, 3);
  EXPECT_EQ(
      complaint(split),
      "unsupported: m.gguf: split.count at offset 47: expected a model in a "
      "single file, got one of 3 files");
}

TEST(GgufFault, RefusesAModelSplitOverFilesByItsName) {
  const std::string bytes = small_gguf().bytes();
  const auto parse_as = [&](const char* name) {
    return GgufFile::parse(std::as_bytes(std::span(bytes)), name).status();
  };
  const Status status = parse_as("dir/m-00001-of-00002.gguf");
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_EQ(
      status.text(),
      "dir/m-00001-of-00002.gguf: the file's name at offset 0: expected a "
      "model in a single file, got one of 2 files");
  EXPECT_TRUE(parse_as("m-00001-of-00001.gguf").ok());
  EXPECT_TRUE(parse_as("m-0001-of-00002.gguf").ok());
  EXPECT_TRUE(parse_as("m-00001-of-0000x.gguf").ok());
  EXPECT_TRUE(parse_as("-of-00002.gguf").ok());
  EXPECT_TRUE(parse_as("m-00001-of-00002.bin").ok());
}

} // namespace
} // namespace holdfast::test
