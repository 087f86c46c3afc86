// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// BPE over a list of merges, byte-level or with byte fallback: what the hubs'
// tokenizer.json and GGUF's "gpt2" hold (docs/tokenizer.md). Every text has
// ids; bytes that are not UTF-8 pass the normalizers and the words by.
// Immutable once built; any thread. It keeps copies of all that it needs.

#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/formats/added_tokens.h"
#include "holdfast/formats/bpe_rules.h"
#include "holdfast/formats/bpe_spec.h"
#include "holdfast/formats/token_model.h"

namespace holdfast {

class BpeModel final : public TokenModel {
 public:
  /// As BpeRules::build(); kCorrupt too where an added token contradicts the
  /// pieces ("added_tokens").
  static Result<std::shared_ptr<const TokenModel>> build(BpeSpec spec);

  BpeModel(BpeSpec spec, std::unique_ptr<const BpeRules> rules);

  std::string_view kind() const override {
    return rules_->byte_level ? "byte-level BPE" : "BPE with byte fallback";
  }
  const SpecialIds& special() const override {
    return spec_.special;
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
    return *rules_;
  }
  struct Work; // of one text
  void
  encode_plain(std::string_view text, StretchPlace place, Work& work) const;
  void
  encode_valid(std::string_view text, StretchPlace place, Work& work) const;

  std::unique_ptr<const BpeRules> rules_;
  BpeSpec spec_; // without pieces and merges, which the rules have
  AddedTokens added_;
};

} // namespace holdfast
