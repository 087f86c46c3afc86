// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A folder of the system that goes with its owner.

#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace holdfast {

class TempFolder {
 public:
  TempFolder() {
    path_ =
        (std::filesystem::temp_directory_path() / "holdfast_XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) {
      throw std::runtime_error("cannot make " + path_);
    }
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const {
    return path_;
  }
  std::string operator/(const std::string& name) const {
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

} // namespace holdfast
