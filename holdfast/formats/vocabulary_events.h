// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Reads a tokenizer.json: its vocabulary and merges, hundreds of thousands of
// short texts, into two stretches of memory; all else as a JSON document, in
// which "model.vocab" and "model.merges" are left empty. One thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/formats/json_tree.h"

namespace holdfast {

class VocabularyEvents : public JsonTree {
 public:
  struct Piece {
    size_t begin = 0; // in the texts
    size_t size = 0;
    uint64_t id = 0;
  };
  using JsonTree::JsonTree;

  const std::vector<Piece>& pieces() const {
    return pieces_;
  }
  std::string_view text(const Piece& piece) const {
    return std::string_view(texts_).substr(piece.begin, piece.size);
  }
  /// Left and right by rank; views of this.
  std::vector<std::pair<std::string_view, std::string_view>> merges() const;

  bool null() override;
  bool boolean(bool value) override;
  bool number_integer(number_integer_t value) override;
  bool number_unsigned(number_unsigned_t value) override;
  bool number_float(number_float_t value, const string_t& text) override;
  bool string(string_t& value) override;
  bool key(string_t& key) override;
  bool start_object(size_t size) override;
  bool start_array(size_t size) override;
  bool end_object() override;
  bool end_array() override;

 private:
  enum class Within { kTree, kPieces, kMerges, kPair };
  struct MergeText {
    size_t begin = 0; // in merge_texts_
    size_t left = 0; // bytes
    size_t right = 0;
  };

  void expect_tree();
  bool is_member(std::string_view name) const;
  void add_line(std::string_view line);
  void add_half(std::string_view half);
  std::string rank() const;

  Within within_ = Within::kTree;
  std::string outer_; // the keys that the next value is under
  std::string inner_;
  std::vector<Piece> pieces_;
  std::string texts_;
  std::vector<MergeText> merges_;
  std::string merge_texts_;
  int halves_ = 0; // of the pair that is being read
};

} // namespace holdfast
