// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// SentencePiece's BPE with byte fallback (docs/tokenizer.md). Every text has
// ids, also one that is not UTF-8, and they give back its bytes; the one
// exception is a U+2581 in the text, which becomes a space. Immutable once
// built; any thread. It keeps copies of all that it needs.

#pragma once

#include <memory>

#include "holdfast/base/status.h"
#include "holdfast/formats/piece_matcher.h"
#include "holdfast/formats/spm_merge.h"
#include "holdfast/formats/spm_vocabulary.h"
#include "holdfast/formats/token_model.h"

namespace holdfast {

class SpmModel final : public TokenModel {
 public:
  /// Checks everything. kCorrupt where the vocabulary contradicts itself;
  /// kUnsupported where it cannot encode every text.
  static Result<std::shared_ptr<const TokenModel>>
  build(SpmVocabulary vocabulary);

  SpmModel(const SpmVocabulary& vocabulary, SpmRules rules);

  std::string_view kind() const override {
    return "SentencePiece BPE";
  }
  const SpecialIds& special() const override {
    return special_;
  }
  void encode(
      std::string_view text,
      const EncodeOptions& options,
      std::vector<TokenId>& ids) const override;
  void append_text(
      TokenId id,
      bool show_special,
      DecodePlace& place,
      std::string& text) const override;

 private:
  const PieceList& list() const override {
    return rules_;
  }
  /// Whether a stretch of plain text begins after this id (or at the start).
  bool ends_plain_text(TokenId id) const;

  SpmRules rules_;
  PieceMatcher user_defined_; // cut out of every text
  PieceMatcher searched_; // those, control and unknown ones
  SpecialIds special_;
  bool add_space_prefix_ = false;
};

} // namespace holdfast
