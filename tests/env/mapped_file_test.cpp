// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/mapped_file.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace holdfast {
namespace {

class MappedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name =
        (std::filesystem::temp_directory_path() / "mapped_file_XXXXXX")
            .string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
  }
  std::string write(const std::string& name, const std::string& text) {
    const auto path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  std::filesystem::path folder_;
};

std::string text_of(const MappedFile& file) {
  return {
      reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST_F(MappedFileTest, ShowsTheBytesOfTheFile) {
  const std::string path = write("a", "hello");
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status().text();
  EXPECT_EQ(text_of(file.value()), "hello");
  EXPECT_EQ(file.value().path(), path);
}

TEST_F(MappedFileTest, AnEmptyFileGivesNoBytes) {
  auto file = MappedFile::open(write("empty", ""));
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file.value().bytes().empty());
  file.value().drop(Bytes(0), Bytes(0));
  file.value().will_need(Bytes(0), Bytes(0));
}

TEST_F(MappedFileTest, SaysWhyAFileCannotBeMapped) {
  const std::string missing = (folder_ / "missing").string();
  const Status none = MappedFile::open(missing).status();
  EXPECT_EQ(none.code(), ErrorCode::kNotFound);
  EXPECT_NE(none.text().find(missing), std::string::npos) << none.text();
  const Status folder = MappedFile::open(folder_.string()).status();
  EXPECT_EQ(folder.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(folder.text().find(folder_.string()), std::string::npos);
}

TEST_F(MappedFileTest, RefusesAPipeInsteadOfWaitingForAWriter) {
  const std::string path = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(
      MappedFile::open(path).status().code(), ErrorCode::kInvalidArgument);
}

TEST_F(MappedFileTest, MovesItsBytesAndLeavesNoneBehind) {
  MappedFile a = MappedFile::open(write("a", "first")).value();
  MappedFile b = std::move(a);
  EXPECT_EQ(text_of(b), "first");
  EXPECT_TRUE(a.bytes().empty()); // NOLINT(bugprone-use-after-move)
  MappedFile c = MappedFile::open(write("c", "second")).value();
  c = std::move(b);
  EXPECT_EQ(text_of(c), "first");
}

TEST_F(MappedFileTest, DroppedPagesReadTheSameAgain) {
  const int64_t page = ::sysconf(_SC_PAGESIZE);
  std::string text(4 * page + 100, '\0');
  for (size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<char>(i * 31 % 251);
  }
  MappedFile file = MappedFile::open(write("big", text)).value();
  ASSERT_EQ(text_of(file), text);
  for (const auto& [offset, length] :
       {std::pair<int64_t, int64_t>{0, 4 * page},
        {1, page},
        {page - 1, 2 * page + 2},
        {3 * page, page + 100},
        {0, 0},
        {-page, 2 * page},
        {5 * page, page},
        {0, 100 * page}}) {
    file.will_need(Bytes(offset), Bytes(length));
    file.drop(Bytes(offset), Bytes(length));
    ASSERT_EQ(text_of(file), text) << offset << " " << length;
  }
}

} // namespace
} // namespace holdfast
