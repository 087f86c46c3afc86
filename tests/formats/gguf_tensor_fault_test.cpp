// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One test per field and fault of the tensor table.

#include <gtest/gtest.h>

#include "tests/formats/gguf_support.h"

namespace holdfast::test {
namespace {

/// One tensor "t" [32, 2] of Q8_0. Its fields stand at: name 24, dimensions 33,
/// shape 37 and 45, type 53, data offset 57; the data begin at 96.
GgufImage one_tensor() {
  GgufImage image;
  image.add_tensor("t", GgufType::kQ8_0, {32, 2});
  return image;
}

TEST(GgufTensorFault, AcceptsTheFileThatTheOthersBreak) {
  EXPECT_EQ(complaint(one_tensor()), "ok");
}

TEST(GgufTensorFault, RefusesANameBeyondTheEnd) {
  GgufImage image;
  image.tensor_count = 1;
  std::string bytes = image.header();
  put<uint64_t>(bytes, uint64_t{1} << 63);
  EXPECT_EQ(
      complaint(bytes + std::string(25, 'x')),
      "corrupt: m.gguf: tensor 0 (name) at offset 32: expected "
      "9223372036854775808 bytes, got 25 bytes to the end of the file");
}

TEST(GgufTensorFault, RefusesAnEmptyAndATooLongName) {
  GgufImage empty = one_tensor();
  empty.tensors[0].name = "";
  const std::string start =
      "corrupt: m.gguf: tensor 0 (name) at offset 24: expected a name of 1 to "
      "64 bytes, got ";
  EXPECT_EQ(complaint(empty), start + "0 bytes");
  GgufImage longer = one_tensor();
  longer.tensors[0].name = std::string(65, 'n');
  EXPECT_EQ(complaint(longer), start + "65 bytes");
  longer.tensors[0].name.pop_back();
  EXPECT_EQ(complaint(longer), "ok");
}

TEST(GgufTensorFault, RefusesANameThatStandsTwice) {
  GgufImage image = one_tensor();
  image.add_tensor("u", GgufType::kF32, {1});
  image.add_tensor("t", GgufType::kF32, {1});
  EXPECT_EQ(
      complaint(image),
      "corrupt: m.gguf: tensor \"t\" at offset 123: expected a name once, got "
      "it again, first for the data at 160");
}

TEST(GgufTensorFault, RefusesNoDimensionAndMoreThanFour) {
  GgufImage image = one_tensor();
  const std::string start =
      "corrupt: m.gguf: tensor \"t\" (dimensions) at offset 33: expected 1 to "
      "4, got ";
  image.tensors[0].dims = 0;
  EXPECT_EQ(complaint(image), start + "0");
  image.tensors[0].dims = 5;
  EXPECT_EQ(complaint(image), start + "5");
  image.tensors[0].dims = UINT32_MAX;
  EXPECT_EQ(complaint(image), start + "4294967295");
}

TEST(GgufTensorFault, RefusesAZeroDimension) {
  GgufImage image = one_tensor();
  image.tensors[0].ne[1] = 0;
  EXPECT_EQ(
      complaint(image),
      "corrupt: m.gguf: tensor \"t\" (shape) at offset 45: expected dimensions "
      "of at least 1 whose product is below 2^63, got 0");
}

TEST(GgufTensorFault, RefusesAShapeThatOverflows) {
  GgufImage image = one_tensor();
  image.tensors[0].ne = {uint64_t{1} << 40, uint64_t{1} << 40};
  EXPECT_EQ(
      complaint(image),
      "corrupt: m.gguf: tensor \"t\" (shape) at offset 45: expected dimensions "
      "of at least 1 whose product is below 2^63, got 1099511627776");
  image.tensors[0].ne = {UINT64_MAX, 1};
  EXPECT_EQ(
      complaint(image),
      "corrupt: m.gguf: tensor \"t\" (shape) at offset 37: expected dimensions "
      "of at least 1 whose product is below 2^63, got 18446744073709551615");
}

TEST(GgufTensorFault, RefusesBytesThatOverflow) {
  GgufImage image;
  image.add_tensor("t", GgufType::kF32, {1});
  image.tensors[0].ne = {uint64_t{1} << 62}; // times 4 bytes
  EXPECT_EQ(
      complaint(image),
      "corrupt: m.gguf: tensor \"t\" (shape) at offset 37: expected data that "
      "fits in the file's 68 bytes, got 4611686018427387904 blocks of 4 bytes");
}

TEST(GgufTensorFault, RefusesRowsThatAreNoWholeBlocks) {
  GgufImage image = one_tensor();
  image.tensors[0].ne = {48, 1};
  EXPECT_EQ(
      complaint(image),
      "corrupt: m.gguf: tensor \"t\" (shape) at offset 37: expected rows of a "
      "multiple of 32 weights for Q8_0, got 48");
  image.tensors[0].type = GgufType::kQ6_K;
  image.tensors[0].ne = {32, 8};
  EXPECT_EQ(
      complaint(image),
      "corrupt: m.gguf: tensor \"t\" (shape) at offset 37: expected rows of a "
      "multiple of 256 weights for Q6_K, got 32");
}

TEST(GgufTensorFault, RefusesTypesThatItDoesNotRead) {
  GgufImage image = one_tensor();
  const std::string start =
      "unsupported: m.gguf: tensor \"t\" (type) at offset 53: expected F32, "
      "F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K or Q6_K, got ";
  image.tensors[0].raw_type = 10;
  EXPECT_EQ(complaint(image), start + "Q2_K");
  image.tensors[0].raw_type = 4;
  EXPECT_EQ(complaint(image), start + "type 4");
  image.tensors[0].raw_type = UINT32_MAX;
  EXPECT_EQ(complaint(image), start + "type 4294967295");
}

TEST(GgufTensorFault, RefusesAnOffsetOffTheAlignment) {
  GgufImage image = one_tensor();
  image.tensors[0].offset = 8;
  EXPECT_EQ(
      complaint(image),
      "corrupt: m.gguf: tensor \"t\" (data offset) at offset 57: expected a "
      "multiple of the alignment 32, got 8");
}

TEST(GgufTensorFault, RefusesAnOffsetBeyondTheEnd) {
  GgufImage image = one_tensor();
  image.tensors[0].offset = uint64_t{1} << 63;
  EXPECT_EQ(
      complaint(image),
      "corrupt: m.gguf: tensor \"t\" (data offset) at offset 57: expected at "
      "most the file's size 164, got 9223372036854775808");
}

TEST(GgufTensorFault, RefusesDataThatReachesBeyondTheEnd) {
  GgufImage image = one_tensor();
  image.tensors[0].offset = 32;
  EXPECT_EQ(
      complaint(image),
      "corrupt: m.gguf: tensor \"t\" (data offset) at offset 57: expected data "
      "that ends at most at the file's end 164, got an end at 196");
  std::string bytes = one_tensor().bytes();
  bytes.pop_back();
  EXPECT_EQ(
      complaint(bytes),
      "corrupt: m.gguf: tensor \"t\" (data offset) at offset 57: expected data "
      "that ends at most at the file's end 163, got an end at 164");
}

TEST(GgufTensorFault, RefusesTensorsThatOverlap) {
  GgufImage image = one_tensor();
  image.add_tensor("u", GgufType::kF32, {4});
  image.tensors[1].offset = 64; // the first ends at 68
  EXPECT_EQ(
      complaint(image),
      "corrupt: m.gguf: tensor \"u\" (data offset) at offset 90: expected data "
      "behind that of tensor \"t\", which ends at 196, got data from 192");
  image.tensors[1].offset = 0;
  EXPECT_NE(complaint(image), "ok");
}

TEST(GgufTensorFault, AcceptsTensorsInAnyOrderWithGapsBetween) {
  GgufImage image = one_tensor();
  image.add_tensor("u", GgufType::kF32, {4});
  std::swap(image.tensors[0].offset, image.tensors[1].offset);
  image.tensors[0].offset += 64;
  image.data_bytes += 256;
  EXPECT_EQ(complaint(image), "ok");
}

} // namespace
} // namespace holdfast::test
