// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The ids that short words became, for the time of one text: most words of a
// text come again. The ids stay where they were written; a slot says where.
// Working memory of one thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/formats/token_id.h"

namespace holdfast {

class WordCache {
 public:
  /// Longer words are not kept.
  static constexpr size_t kMostBytes = 64;

  /// For a text of so many bytes.
  explicit WordCache(size_t text_bytes);

  /// Appends the ids of a word that was kept; false where it was not.
  bool append(std::string_view word, std::vector<TokenId>& ids);
  /// Keeps the word that append() was last asked for: its ids are those from
  /// `first` on. It takes the place of another.
  void
  keep(std::string_view word, const std::vector<TokenId>& ids, size_t first);

 private:
  struct Slot {
    uint64_t hash = 0;
    uint32_t text = 0; // place in texts_
    uint32_t size = 0; // bytes; 0: nothing is kept here
    uint32_t first = 0; // place of its ids
    uint32_t count = 0;
  };

  std::vector<Slot> slots_; // power of two
  std::string texts_; // of all words that were kept
  uint64_t hash_ = 0; // of the last word asked for
};

} // namespace holdfast
