// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Looks for byte strings in every file of a folder, at any offset: the proof
// that something is gone. One thread.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "holdfast/base/strong.h"

namespace holdfast::app {

/// Strings that are looked for all at once.
class ByteSearch {
 public:
  static constexpr size_t kShortest = 16;

  /// Throws kInvalidArgument for fewer bytes than kShortest.
  void add(std::string text);
  bool empty() const {
    return texts_.empty();
  }
  size_t size() const {
    return texts_.size();
  }
  size_t longest() const {
    return longest_;
  }
  /// Calls `found` with each place and text.
  void
  in(std::string_view bytes,
     const std::function<void(size_t at, const std::string& text)>& found)
      const;
  /// Without those that are in one of these.
  ByteSearch without_those_in(const std::vector<std::string>& others) const;

 private:
  static size_t slot(uint64_t head) {
    return (head * 0x9e3779b97f4a7c15u) >> 44;
  }
  // By the first 8 bytes; a bit says quickly that there are none.
  std::unordered_map<uint64_t, std::vector<size_t>> by_head_;
  std::vector<bool> heads_ = std::vector<bool>(size_t{1} << 20);
  std::vector<std::string> texts_;
  size_t longest_ = 0;
};

struct ScanReport {
  int64_t files = 0;
  Bytes bytes;
  int64_t found = 0; // places
  std::vector<std::string> files_found; // paths, each once
  std::vector<std::string> unread; // paths with why
};

/// Reads all files below the folder to their ends; links are not followed.
ScanReport scan_folder(
    const std::string& folder,
    const ByteSearch& search,
    const std::function<void(Bytes done, Bytes total)>& progress);

} // namespace holdfast::app
