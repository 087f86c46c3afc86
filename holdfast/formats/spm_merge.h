// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The merging half of SentencePiece's BPE: a stretch of plain text (spaces
// already U+2581) becomes piece ids. Neighbouring symbols whose concatenation
// is a piece merge, the highest score first, the leftmost on a tie.
// SpmRules is immutable (any thread); an SpmMerger is working memory of one
// thread, reusable for any number of stretches.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "holdfast/formats/byte_pairs.h"
#include "holdfast/formats/piece_list.h"
#include "holdfast/formats/spm_vocabulary.h"

namespace holdfast {

struct SpmRules : PieceList {
  using PieceList::PieceList;

  BytePairs pairs;
  std::vector<float> scores; // [V]
  std::array<TokenId, 256> byte_ids{}; // kNoToken where there is no such piece
  TokenId unknown = kNoToken;

  bool mergeable(TokenId id) const {
    const PieceType type = types[static_cast<size_t>(id)];
    return type == PieceType::kNormal || type == PieceType::kUserDefined ||
        type == PieceType::kUnused;
  }
  /// The mergeable piece with this text, or kNoToken.
  TokenId find_mergeable(std::string_view text) const {
    const TokenId id = table.find(text);
    return id != kNoToken && mergeable(id) ? id : kNoToken;
  }
};

class SpmMerger {
 public:
  explicit SpmMerger(const SpmRules& rules) : rules_(rules) {}

  /// Appends the ids of `text`: O(n log n) for any text.
  void encode(std::string_view text, std::vector<TokenId>& ids);

 private:
  struct Symbol { // a stretch of the segment; size 0: merged into its left one
    int32_t previous = -1;
    int32_t next = -1;
    uint32_t begin = 0;
    uint32_t size = 0;
    TokenId id = kNoToken; // of single characters: not looked up yet
  };
  struct Candidate {
    float score = 0;
    int32_t left = 0;
    uint32_t size = 0; // of both together; tells stale candidates
    TokenId id = kNoToken;
  };
  struct Later; // orders candidates

  void split_into_symbols(std::string_view text, std::vector<TokenId>& ids);
  void merge_segment(std::string_view text, std::vector<TokenId>& ids);
  bool candidate_at(std::string_view text, int32_t left, Candidate& result);
  void push_candidate_at(std::string_view text, int32_t left);
  void emit(std::string_view text, TokenId id, std::vector<TokenId>& ids);
  void emit_bytes(std::string_view text, std::vector<TokenId>& ids);

  const SpmRules& rules_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> heap_;
  std::unordered_map<TokenId, uint32_t> splits_; // unused piece -> left bytes
  std::vector<std::string_view> stack_;
  bool after_unknown_ = false; // a run without pieces becomes one unknown
};

} // namespace holdfast
