// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The merging half of BPE: a word becomes ids. Its first symbols are bytes or
// characters; of all neighbours that merge, the pair of the lowest rank does,
// the leftmost on a tie. Working memory of one thread, for one text.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/formats/bpe_rules.h"
#include "holdfast/formats/word_cache.h"

namespace holdfast {

class BpeMerger {
 public:
  BpeMerger(const BpeRules& rules, size_t text_bytes)
      : rules_(rules), cache_(text_bytes) {}

  /// Appends the ids of a word, not empty: O(n log n) for any word.
  void encode(std::string_view word, std::vector<TokenId>& ids);

 private:
  struct Symbol {
    int32_t previous = -1;
    int32_t next = -1;
    TokenId id = kNoToken; // none: merged into its left neighbour
  };
  struct Candidate {
    uint32_t rank = 0;
    int32_t left = 0;
    TokenId product = kNoToken;
  };
  struct Later; // orders candidates

  bool append_whole(std::string_view word, std::vector<TokenId>& ids);
  void encode_segment(std::string_view segment, std::vector<TokenId>& ids);
  void fill_symbols(std::string_view segment);
  void merge_short();
  void merge_long();
  void push_candidate(int32_t left);

  const BpeRules& rules_;
  WordCache cache_;
  std::vector<TokenId> symbols_; // of a segment; then what is left of them
  std::vector<Merge> next_; // merge_short: of each symbol with the next
  std::vector<Symbol> linked_; // merge_long
  std::vector<Candidate> heap_;
  std::string stored_; // a word as its piece is stored
  bool after_unknown_ = false;
};

} // namespace holdfast
