// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Each file system in turn, with an empty folder on it: "posix", "memory", and
// "wrapped", which is posix behind a FaultyFileSystem that fails nothing.

#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "file_bytes.h"
#include "holdfast/env/faulty_file_system.h"
#include "holdfast/env/memory_file_system.h"
#include "holdfast/env/posix_file_system.h"
#include "temp_folder.h"

namespace holdfast {

class EachFileSystem : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string kind = GetParam();
    if (kind == "memory") {
      system_ = MemoryFileSystem::make();
      root_ = "/state";
      system_->create_folder(root_).check();
    } else {
      root_ = temp_.path();
      system_ = posix_file_system();
      if (kind == "wrapped") {
        system_ = std::make_shared<FaultyFileSystem>(system_);
      }
    }
  }
  std::string at(const std::string& name) const {
    return root_ + "/" + name;
  }
  /// The error of a call, checked to name the path.
  static ErrorCode code(const Status& status, const std::string& path) {
    EXPECT_NE(status.text().find(path), std::string::npos) << status.text();
    return status.code();
  }

  TempFolder temp_;
  std::string root_;
  std::shared_ptr<FileSystem> system_;
};

#define HOLDFAST_EACH_FILE_SYSTEM(suite)             \
  INSTANTIATE_TEST_SUITE_P(                          \
      Each,                                          \
      suite,                                         \
      testing::Values("posix", "memory", "wrapped"), \
      [](const auto& info) { return std::string(info.param); })

} // namespace holdfast
