// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/formats/safetensors_support.h"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

std::string tensor(const std::string& type, const std::string& rest) {
  return R"({"a":{"dtype":")" + type + R"(",)" + rest + "}}";
}

TEST(Safetensors, GivesTensorsAndMetadata) {
  const auto file =
      open_safetensors(
          R"({"__metadata__":{"k":"v","":""},)"
          R"("a":{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]},)"
          R"("b":{"dtype":"BF16","shape":[],"data_offsets":[0,2]},)"
          R"("c":{"dtype":"F16","shape":[0],"data_offsets":[7,7]}})",
          12)
          .value();
  EXPECT_EQ(file->header().metadata.at("k"), "v");
  EXPECT_EQ(file->header().metadata.size(), 2u);
  const StoredTensor* a = file->find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(a->elements(), 2);
  EXPECT_EQ(file->read(*a).value()[0], std::byte{4});
  EXPECT_EQ(file->read_floats(*a).value().size(), 2u);
  EXPECT_EQ(file->read_floats(*file->find("b")).value().size(), 1u);
  EXPECT_EQ(file->read(*file->find("c")).value().size(), 0u);
  EXPECT_EQ(file->find("d"), nullptr);
}

TEST(Safetensors, NoMetadataMayBeNullAsMlxWritesIt) {
  const auto file =
      open_safetensors(
          R"({"__metadata__":null,)"
          R"("a":{"data_offsets":[0,2],"dtype":"BF16","shape":[1]}})",
          2)
          .value();
  EXPECT_TRUE(file->header().metadata.empty());
  EXPECT_EQ(file->header().tensors.size(), 1u);
}

TEST(Safetensors, AHeaderThatLiesIsRefused) {
  struct Lie {
    std::string json;
    const char* text;
  };
  const std::string ok = R"("shape":[2],"data_offsets":[0,8])";
  for (const Lie& lie : std::vector<Lie>{
           {"", "header"},
           {"[]", "object"},
           {"{", "JSON"},
           {"{}x", "JSON"},
           {R"({"a":1})", "sizes"},
           {R"({"a":null})", "null"},
           {R"({"__metadata__":{"k":null}})", "null"},
           {R"({"__metadata__":null,"__metadata__":null})", "once"},
           {R"({"a":[]})", "shape"},
           {R"({"a":{}})", "type"},
           {R"({"a":{"b":{}}})", "object"},
           {R"({"__metadata__":{"k":1}})", "sizes"},
           {R"({"__metadata__":{"k":"v","k":"w"}})", "once"},
           {R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
            R"("a":{"dtype":"F32","shape":[],"data_offsets":[4,8]}})",
            "again"},
           {R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
            R"("b":{"dtype":"F32","shape":[],"data_offsets":[3,7]}})",
            "overlap"},
           {tensor("F33", ok), "type"},
           {tensor("F32", R"("shape":[2])"), "offsets"},
           {tensor("F32", R"("data_offsets":[0,8])"), "shape"},
           {tensor("F32", R"("shape":[2],"data_offsets":[0,8,8])"), "offsets"},
           {tensor("F32", R"("shape":[2],"shape":[2],"data_offsets":[0,8])"),
            "once"},
           {tensor("F32", R"("shape":[[2]],"data_offsets":[0,8])"), "list"},
           {tensor("F32", R"("shape":[-2],"data_offsets":[0,8])"), "negative"},
           {tensor("F32", R"("shape":[2.0],"data_offsets":[0,8])"), "fraction"},
           {tensor("F32", R"("shape":[2],"data_offsets":[0,7])"), "8 bytes"},
           {tensor("F32", R"("shape":[2],"data_offsets":[8,0])"), "8 bytes"},
           {tensor("F32", R"("shape":[2],"data_offsets":[8,16])"), "8 bytes"},
           {tensor(
                "F32",
                R"("shape":[4294967296,4294967296],"data_offsets":[0,8])"),
            "shape"},
           {tensor(
                "F32", R"("shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4])"),
            "8 sizes"},
           {tensor(
                "F32",
                R"("shape":[18446744073709551616],"data_offsets":[0,8])"),
            "fraction"},
       }) {
    const auto opened = open_safetensors(lie.json, 12);
    EXPECT_EQ(opened.status().code(), ErrorCode::kCorrupt) << lie.json;
    EXPECT_THAT(opened.status().text(), HasSubstr(lie.text)) << lie.json;
    EXPECT_EQ(opened.status().text().find('\n'), std::string::npos);
  }
}

TEST(Safetensors, EveryTruncationIsFound) {
  const std::string json = tensor("F32", R"("shape":[2],"data_offsets":[0,8])");
  const auto files = safetensors_file(json, 8);
  const auto file =
      files->open("/file", FileSystem::Access::kReadWrite).value();
  for (int64_t size = file->facts().value().size.get() - 1; size >= 0; --size) {
    file->truncate(Bytes(size)).check();
    EXPECT_EQ(
        SafetensorsFile::open(*files, "/file").status().code(),
        ErrorCode::kCorrupt)
        << size;
  }
}

TEST(Safetensors, AHeaderAsLongAsTheFileSaysTakesNoMemory) {
  const auto files = MemoryFileSystem::make();
  const uint64_t huge = uint64_t{1} << 62;
  files->create("/file")
      .value()
      ->write(Bytes(0), std::as_bytes(std::span(&huge, 1)))
      .check();
  EXPECT_THAT(
      SafetensorsFile::open(*files, "/file").status().text(),
      HasSubstr("16 MiB"));
}

} // namespace
} // namespace holdfast::test
