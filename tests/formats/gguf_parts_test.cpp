// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/gguf_parts.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/folder_fixture.h"
#include "tests/formats/gguf_writer.h"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;

/// What one of three parts says of itself, and its tensor.
struct Part {
  std::string tensor;
  uint16_t number = 0;
  uint16_t count = 3;
  int32_t tensors = 3; // 0: not said
};

class GgufPartsTest : public test::FolderFixture {
 protected:
  GgufPartsTest() {
    for (uint16_t i = 0; i < 3; ++i) {
      write({.tensor = std::string(1 + i, 't'), .number = i});
    }
  }
  std::string path(int number) const {
    return folder_ + "/m-0000" + std::to_string(number + 1) + "-of-00003.gguf";
  }
  /// To where it belongs, or to another part's place.
  void write(const Part& part, int place = -1) const {
    GgufImage image;
    image.add<uint16_t>("split.no", GgufValue::kU16, part.number);
    image.add<uint16_t>("split.count", GgufValue::kU16, part.count);
    if (part.tensors > 0) {
      image.add<int32_t>("split.tensors.count", GgufValue::kI32, part.tensors);
    }
    image.add<uint32_t>("of", GgufValue::kU32, part.number);
    image.add_tensor(part.tensor, GgufType::kF32, {4});
    std::string bytes = image.bytes();
    const float value = part.number;
    std::memcpy(bytes.data() + bytes.size() - 16, &value, 4);
    std::ofstream(path(place < 0 ? part.number : place), std::ios::binary)
        << bytes;
  }
  std::string refused(ErrorCode code, int number = 0) const {
    const Status status = GgufFile::open(path(number)).status();
    EXPECT_EQ(status.code(), code) << status.text();
    EXPECT_EQ(status.text().find('\n'), std::string::npos);
    return status.text();
  }
};

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(GgufPartsTest, AreReadAsOneModel) {
  GgufFile opened = GgufFile::open(path(0)).value();
  const GgufFile file = std::move(opened);
  EXPECT_EQ(file.parts(), 3);
  EXPECT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(file.integer("of"), 0); // the first one's
  int64_t size = 0;
  for (int i = 0; i < 3; ++i) {
    const GgufTensor* tensor = file.tensor(std::string(1 + i, 't'));
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(tensor->part, i);
    float value = -1;
    std::memcpy(&value, file.data(*tensor).data(), 4);
    EXPECT_EQ(value, static_cast<float>(i));
    EXPECT_NE(file.part(i).mapping(), nullptr);
    size += static_cast<int64_t>(fs::file_size(path(i)));
  }
  EXPECT_EQ(file.size(), size);
  EXPECT_GE(file.data_bytes(), 3 * 16);
}

TEST_F(GgufPartsTest, NameTheOneThatIsMissing) {
  fs::remove(path(1));
  EXPECT_TRUE(says(refused(ErrorCode::kNotFound), "m-00002-of-00003.gguf"));
}

TEST_F(GgufPartsTest, AreOpenedByTheFirst) {
  const std::string line = refused(ErrorCode::kCorrupt, 1);
  EXPECT_TRUE(says(line, "split.no") && says(line, "m-00001-of-00003.gguf"))
      << line;
}

TEST_F(GgufPartsTest, RefusesOnesOfOtherModelsOrInAnotherOrder) {
  write({.tensor = "tt", .number = 2}, 1);
  EXPECT_TRUE(says(refused(ErrorCode::kCorrupt), "split.no"));
  write({.tensor = "tt", .number = 1, .count = 4});
  EXPECT_TRUE(says(refused(ErrorCode::kCorrupt), "split.count"));
  write({.tensor = "t", .number = 1}); // the first one's too
  std::string line = refused(ErrorCode::kCorrupt);
  EXPECT_TRUE(says(line, "\"t\"") && says(line, "m-00002")) << line;
  write({.tensor = "tt", .number = 1});
  for (const int32_t tensors : {0, 2, 4}) {
    write({.tensor = "t", .tensors = tensors});
    line = refused(ErrorCode::kCorrupt);
    EXPECT_TRUE(says(line, "split.tensors.count")) << line;
  }
  write({.tensor = "t", .count = 2});
  EXPECT_TRUE(says(refused(ErrorCode::kCorrupt), "split.count"));
}

TEST_F(GgufPartsTest, ReadsNoneThatALinkLeadsOutToAndNoneThatIsCut) {
  const std::string outside = folder_ + "-outside.gguf";
  fs::rename(path(2), outside);
  fs::create_symlink(outside, path(2));
  EXPECT_TRUE(says(refused(ErrorCode::kCorrupt), "link out of it"));
  fs::remove(path(2));
  fs::rename(outside, path(2));
  const auto size = fs::file_size(path(2));
  for (uintmax_t cut = 0; cut < size; ++cut) {
    fs::resize_file(path(2), cut);
    EXPECT_FALSE(GgufFile::open(path(0)).ok()) << cut;
    write({.tensor = "ttt", .number = 2});
  }
}

TEST_F(GgufPartsTest, RefusesAPartUnderAnotherName) {
  const std::string alone = folder_ + "/alone.gguf";
  fs::rename(path(0), alone);
  EXPECT_EQ(GgufFile::open(alone).status().code(), ErrorCode::kUnsupported);
}

} // namespace
} // namespace holdfast::test
