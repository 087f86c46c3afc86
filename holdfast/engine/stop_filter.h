// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Finds stop strings in streamed text, also where they span tokens: text that
// may yet become a stop string is held back.
//
// The stop string whose last byte comes first wins; of those that end together,
// the longest. The result does not depend on how the text is cut into pieces.
// Threads: one at a time.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

class StopFilter {
 public:
  /// Throws kInvalidArgument for a stop string that is empty or not UTF-8.
  explicit StopFilter(std::vector<std::string> stops);

  /// Adds text and returns what is certain by now: whole characters, where the
  /// pieces are.
  std::string push(std::string_view text);
  /// What was held back, once no more text comes. Nothing after a stop.
  std::string flush();
  std::string_view held() const {
    return held_;
  }
  bool stopped() const {
    return stopped_;
  }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

} // namespace holdfast
