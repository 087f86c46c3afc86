// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A test with a folder of its own, empty at its begin and gone with it.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace holdfast::test {

class FolderFixture : public testing::Test {
 protected:
  FolderFixture() : folder_(path_of_this()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~FolderFixture() override {
    std::filesystem::remove_all(folder_);
  }

  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
  }

  const std::string folder_;

 private:
  static std::string path_of_this() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    return std::string(testing::TempDir())
        .append("holdfast-")
        .append(info->test_suite_name())
        .append("-")
        .append(info->name());
  }
};

} // namespace holdfast::test
