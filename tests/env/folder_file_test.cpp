// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/folder_file.h"
#include "tests/folder_fixture.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

namespace fs = std::filesystem;

class FolderFileTest : public test::FolderFixture {
 protected:
  FolderFileTest() {
    fs::create_directories(root_ / "model/part");
    for (const char* name : {"secret", "model/config.json", "model/part/a"}) {
      std::ofstream(root_ / name) << name;
    }
  }
  ErrorCode code(const std::string& name) const {
    return file_in_folder(root_ / "model", name).status().code();
  }

  const fs::path root_ = folder_;
};

TEST_F(FolderFileTest, GivesTheRealPathOfWhatLiesInTheFolder) {
  fs::create_directory_symlink(root_ / "model", root_ / "link");
  fs::create_symlink("part/a", root_ / "model/inside");
  for (const char* folder : {"model", "link"}) {
    const std::string path = root_ / folder;
    EXPECT_EQ(
        file_in_folder(path, "config.json").value(),
        fs::canonical(root_ / "model/config.json"));
    EXPECT_EQ(
        file_in_folder(path, "inside").value(),
        fs::canonical(root_ / "model/part/a"));
  }
}

TEST_F(FolderFileTest, FollowsNoNameOutOfTheFolder) {
  for (const std::string name :
       {"",
        "../secret",
        "part/../../secret",
        ".",
        "..",
        "part/..",
        "./config.json",
        "part/",
        "/etc/passwd"}) {
    EXPECT_EQ(code(name), ErrorCode::kCorrupt) << name;
  }
  EXPECT_EQ(code(std::string("a\0b", 3)), ErrorCode::kCorrupt);
  EXPECT_EQ(code("a\nb"), ErrorCode::kCorrupt);
  EXPECT_EQ(code(std::string(5000, 'a')), ErrorCode::kCorrupt);
  EXPECT_EQ(code("absent"), ErrorCode::kNotFound);
  EXPECT_EQ(code("config.json/x"), ErrorCode::kNotFound);
  EXPECT_EQ(
      file_in_folder(root_ / "secret", "x").status().code(),
      ErrorCode::kInvalidArgument);
}

TEST_F(FolderFileTest, FollowsNoLinkOutOfTheFolder) {
  fs::create_symlink("../secret", root_ / "model/out");
  fs::create_symlink(root_ / "secret", root_ / "model/far");
  fs::create_directory_symlink(root_, root_ / "model/up");
  fs::create_symlink("loop", root_ / "model/loop");
  for (const char* name : {"out", "far", "up/secret"}) {
    const Status status = file_in_folder(root_ / "model", name).status();
    EXPECT_EQ(status.code(), ErrorCode::kCorrupt) << name;
    EXPECT_NE(status.text().find("link out of it"), std::string::npos);
    EXPECT_EQ(status.text().find('\n'), std::string::npos);
  }
  EXPECT_EQ(code("loop"), ErrorCode::kIo);
}

TEST_F(FolderFileTest, FollowsTheLinksOfAHubCacheToItsBlobsAlone) {
  const fs::path cache = root_ / "cache", snapshot = cache / "snapshots/main";
  fs::create_directories(snapshot);
  fs::create_directories(cache / "blobs/deeper");
  for (const char* name : {"blobs/abc", "blobs/deeper/def", "other"}) {
    std::ofstream(cache / name) << name;
  }
  fs::create_symlink("../../blobs/abc", snapshot / "config.json");
  fs::create_symlink("../../blobs/deeper/def", snapshot / "deep");
  fs::create_symlink("../../other", snapshot / "beside");
  EXPECT_EQ(
      file_in_folder(snapshot, "config.json").value(),
      fs::canonical(cache / "blobs/abc"));
  for (const char* name : {"deep", "beside"}) {
    EXPECT_EQ(
        file_in_folder(snapshot, name).status().code(), ErrorCode::kCorrupt)
        << name;
  }
  // A folder "blobs" elsewhere is none.
  fs::create_directories(root_ / "blobs");
  std::ofstream(root_ / "blobs/abc") << "x";
  fs::create_symlink("../blobs/abc", root_ / "model/blob");
  EXPECT_EQ(code("blob"), ErrorCode::kCorrupt);
}

} // namespace
} // namespace holdfast
