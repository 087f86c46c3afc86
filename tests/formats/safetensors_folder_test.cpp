// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/safetensors_folder.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "holdfast/formats/safetensors_index.h"
#include "tests/folder_fixture.h"

namespace holdfast {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFirst = "model-00001-of-00002.safetensors";
constexpr const char* kSecond = "model-00002-of-00002.safetensors";

/// A header that gives each name four bytes, one tensor after the other.
std::string file_of(const std::vector<std::string>& names) {
  std::string json = "{", data;
  for (const std::string& name : names) {
    json += (json.size() > 1 ? "," : "") + ("\"" + name) +
        R"(":{"dtype":"F32","shape":[1],"data_offsets":[)" +
        std::to_string(data.size()) + "," + std::to_string(data.size() + 4) +
        "]}";
    const float value = static_cast<float>(name.size());
    data.append(reinterpret_cast<const char*>(&value), 4);
  }
  json += "}";
  const uint64_t length = json.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + json + data;
}

class SafetensorsFolderTest : public test::FolderFixture {
 protected:
  /// Two files of an index.
  void write_shards() const {
    write(kFirst, file_of({"a", "bb"}));
    write(kSecond, file_of({"ccc"}));
    write_index(R"("a":"model-00001-of-00002.safetensors",)"
                R"("bb":"model-00001-of-00002.safetensors",)"
                R"("ccc":"model-00002-of-00002.safetensors")");
  }
  void write_index(const std::string& map) const {
    write(
        kSafetensorsIndex,
        R"({"metadata":{"total_size":12},"weight_map":{)" + map + "}}");
  }
  /// The line of a refusal.
  std::string refused(ErrorCode code = ErrorCode::kCorrupt) const {
    const Status status = SafetensorsFolder::open(folder_).status();
    EXPECT_EQ(status.code(), code) << status.text();
    EXPECT_EQ(status.text().find('\n'), std::string::npos) << status.text();
    return status.text();
  }
};

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(
    SafetensorsFolderTest,
    ReadsOneFileOrTheShardsOfAnIndexOrOfTheirNumbers) {
  write("model.safetensors", file_of({"a", "bb"}));
  write("consolidated.safetensors", "of nobody");
  auto one = SafetensorsFolder::open(folder_).value();
  EXPECT_EQ(one.shards().size(), 1u);
  EXPECT_EQ(one.tensors().size(), 2u);
  float value = 0;
  std::memcpy(&value, one.tensors().at("bb").bytes().data(), 4);
  EXPECT_EQ(value, 2.0f);
  write_shards();
  auto indexed = SafetensorsFolder::open(folder_).value();
  EXPECT_EQ(indexed.shards().size(), 2u);
  EXPECT_EQ(indexed.tensors().at("ccc").shard->name, kSecond);
  fs::remove(folder_ + "/" + kSafetensorsIndex);
  fs::remove(folder_ + "/model.safetensors");
  auto numbered = SafetensorsFolder::open(folder_).value();
  EXPECT_EQ(numbered.tensors().size(), 3u);
}

TEST_F(SafetensorsFolderTest, KeepsItsBytesWhenAPageIsDropped) {
  write("model.safetensors", file_of({"a", "bb"}));
  const auto folder = SafetensorsFolder::open(folder_).value();
  const auto& tensor = folder.tensors().at("a");
  tensor.drop();
  EXPECT_EQ(tensor.bytes().size(), 4u);
  float value = 0;
  std::memcpy(&value, tensor.bytes().data(), 4);
  EXPECT_EQ(value, 1.0f);
}

TEST_F(SafetensorsFolderTest, NamesTheShardThatIsMissing) {
  write_shards();
  fs::remove(folder_ + "/" + kSecond);
  EXPECT_TRUE(says(refused(ErrorCode::kNotFound), kSecond));
  fs::remove(folder_ + "/" + kSafetensorsIndex);
  EXPECT_TRUE(says(refused(ErrorCode::kNotFound), kSecond));
  fs::remove(folder_ + "/" + kFirst);
  EXPECT_TRUE(says(refused(ErrorCode::kNotFound), "model.safetensors"));
}

TEST_F(
    SafetensorsFolderTest,
    NamesTheTensorThatIsInAnotherFileThanTheIndexSays) {
  write_shards();
  write_index(R"("a":"model-00001-of-00002.safetensors",)"
              R"("bb":"model-00002-of-00002.safetensors",)"
              R"("ccc":"model-00002-of-00002.safetensors")");
  std::string line = refused();
  EXPECT_TRUE(says(line, "\"bb\"") && says(line, kSecond)) << line;
  write_index(R"("a":"model-00001-of-00002.safetensors")");
  line = refused();
  EXPECT_TRUE(says(line, "\"bb\"") && says(line, "weight_map")) << line;
  write_shards();
  write(kSecond, file_of({"ccc", "a"}));
  line = refused();
  EXPECT_TRUE(says(line, "\"a\"") && says(line, kFirst)) << line;
  write(kSecond, file_of({"dddd"}));
  line = refused();
  EXPECT_TRUE(says(line, "\"ccc\"")) << line;
}

TEST_F(SafetensorsFolderTest, ReadsNoFileOutsideTheFolder) {
  const std::string outside = folder_ + "-outside.safetensors";
  std::ofstream(outside, std::ios::binary) << file_of({"a"});
  const std::string name = fs::path(outside).filename();
  write_index("\"a\":\"../" + name + "\"");
  EXPECT_TRUE(says(refused(), "within the folder"));
  write_index("\"a\":\"" + outside + "\"");
  EXPECT_TRUE(says(refused(), "within the folder"));
  fs::create_symlink(outside, folder_ + "/link.safetensors");
  write_index(R"("a":"link.safetensors")");
  EXPECT_TRUE(says(refused(), "link out of it"));
  fs::remove(folder_ + "/" + kSafetensorsIndex);
  fs::create_symlink(outside, folder_ + "/model.safetensors");
  EXPECT_TRUE(says(refused(), "link out of it"));
  fs::remove(folder_ + "/model.safetensors");
  write_shards();
  fs::remove(folder_ + "/" + kSafetensorsIndex);
  fs::create_symlink(outside, folder_ + "/" + kSafetensorsIndex);
  EXPECT_TRUE(says(refused(), "link out of it"));
  fs::remove(outside);
}

TEST_F(SafetensorsFolderTest, RefusesAFileCutAnywhere) {
  const std::string whole = file_of({"a", "bb"});
  for (size_t size = 0; size < whole.size(); ++size) {
    write("model.safetensors", whole.substr(0, size));
    EXPECT_TRUE(says(refused(), "model.safetensors")) << size;
  }
}

TEST_F(SafetensorsFolderTest, NeverReadsOutsideAFileWithFlippedBits) {
  const std::string whole = file_of({"a", "bb"});
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    write("model.safetensors", flipped);
    const auto folder = SafetensorsFolder::open(folder_);
    if (!folder.ok()) {
      EXPECT_EQ(folder.status().code(), ErrorCode::kCorrupt);
      continue;
    }
    for (const auto& [name, tensor] : folder.value().tensors()) {
      EXPECT_LE(
          tensor.stored.offset + tensor.stored.bytes, Bytes(std::ssize(whole)));
    }
  }
}

TEST(SafetensorsIndexTest, RefusesWhatIsNoMapOfFiles) {
  for (const std::string json :
       {"",
        "[]",
        "3",
        "\"a\"",
        "{}",
        "{",
        R"({"weight_map":3})",
        R"({"weight_map":null})",
        R"({"weight_map":[]})",
        R"({"weight_map":{}})",
        R"({"weight_map":{"a":1}})",
        R"({"weight_map":{"a":{}}})",
        R"({"weight_map":{"a":["b"]}})",
        R"({"weight_map":{"a":"b","a":"b"}})",
        R"({"weight_map":{"a":"b"},"weight_map":{"c":"d"}})",
        R"({"metadata":{"weight_map":{"a":"b"}}})",
        R"({"weight_map":{"a":"b"}} x)"}) {
    const Status status = parse_safetensors_index(json, "the file").status();
    EXPECT_EQ(status.code(), ErrorCode::kCorrupt) << json;
    EXPECT_TRUE(says(status.text(), "the file: ")) << status.text();
  }
  const std::string nul = R"({"weight_map":{"a":"b"}})" + std::string(1, '\0');
  EXPECT_FALSE(parse_safetensors_index(nul, "f").ok());
}

TEST(SafetensorsIndexTest, SkipsWhatItDoesNotKnow) {
  const auto index = parse_safetensors_index(
      R"({"metadata":{"total_size":1.5e9,"x":[{"weight_map":{"c":[]}}]},)"
      R"("weight_map":{"a":"b"},"format":null})",
      "f");
  EXPECT_EQ(index.value(), (SafetensorsIndex{{"a", "b"}}));
}

} // namespace
} // namespace holdfast
