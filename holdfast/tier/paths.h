// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Parts of paths. Any thread.

#pragma once

#include <string>

namespace holdfast {

/// The folder of a file or folder: "." where the path names none.
inline std::string folder_of_path(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}

} // namespace holdfast
