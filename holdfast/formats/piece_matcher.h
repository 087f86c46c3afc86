// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Finds whole pieces in raw text: at a place, the longest piece of a given set
// that begins there. The set is kept sorted; a match narrows a range byte by
// byte. Immutable; any thread. The views' bytes must outlive the matcher.

#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "holdfast/formats/token_id.h"

namespace holdfast {

class PieceMatcher {
 public:
  struct Entry {
    std::string_view text; // not empty
    TokenId id = kNoToken;
  };

  /// `entries` in any order; their texts differ.
  explicit PieceMatcher(std::vector<Entry> entries);

  bool empty() const {
    return entries_.empty();
  }

  /// The longest entry that `text` begins with, or null.
  const Entry* longest_at(std::string_view text) const;

  /// Whether some entry begins with this byte.
  bool may_begin(char byte) const {
    const auto value = static_cast<unsigned char>(byte);
    return first_[value] != first_[value + 1u];
  }

 private:
  std::vector<Entry> entries_; // ascending by text
  std::array<size_t, 257> first_{}; // [b]: the first entry whose byte >= b
};

} // namespace holdfast
