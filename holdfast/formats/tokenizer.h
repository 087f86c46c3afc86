// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Text <-> token ids: SentencePiece's BPE with byte fallback, from the
// vocabulary of a model file (docs/tokenizer.md). Every text has ids, also one
// that is not UTF-8, and decode() gives back its bytes; the one exception is a
// U+2581 in the text, which becomes a space. Immutable once built; const
// members from any thread. It keeps copies of all that it needs.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/formats/spm_matcher.h"
#include "holdfast/formats/spm_merge.h"
#include "holdfast/formats/spm_vocabulary.h"

namespace holdfast {

struct EncodeOptions {
  bool add_special = true; // bos and eos, where the vocabulary asks for them
  bool parse_special = false; // control pieces in the text become their ids
  TokenId after = kNoToken; // the id that came before the text; none: start
};

struct DecodeOptions {
  bool show_special = false; // control and unknown pieces as their names
  TokenId after = kNoToken; // the id that came before the first; none: start
};

class Tokenizer {
 public:
  /// Checks everything. kCorrupt where the vocabulary contradicts itself;
  /// kUnsupported where it cannot encode every text.
  static Result<Tokenizer> build(SpmVocabulary vocabulary);

  Tokenizer(Tokenizer&&) noexcept = default;
  Tokenizer& operator=(Tokenizer&&) noexcept = default;

  /// Throws kInvalidArgument for more than kMaxTextBytes.
  std::vector<TokenId>
  encode(std::string_view text, EncodeOptions options = {}) const;

  /// The exact bytes. Throws kInvalidArgument for an id out of range.
  std::string
  decode(std::span<const TokenId> ids, DecodeOptions options = {}) const;

  /// As stored: "<bos>", "<0x0A>", U+2581 for a space. Throws as decode().
  std::string_view piece(TokenId id) const;
  PieceType type(TokenId id) const;
  /// The piece of any type stored exactly so, or kNoToken.
  TokenId find(std::string_view piece) const;

  int64_t size() const {
    return static_cast<int64_t>(rules_.pieces.size());
  }
  TokenId bos() const {
    return bos_;
  }
  TokenId eos() const {
    return eos_;
  }
  TokenId unknown() const {
    return rules_.unknown;
  }
  TokenId padding() const {
    return padding_;
  }
  bool add_bos() const {
    return add_bos_;
  }
  bool add_eos() const {
    return add_eos_;
  }
  bool add_space_prefix() const {
    return add_space_prefix_;
  }

  static constexpr size_t kMaxTextBytes = size_t{1} << 29;

 private:
  friend class Detokenizer;

  Tokenizer(const SpmVocabulary& vocabulary, SpmRules rules);

  void check_id(TokenId id) const;
  /// Whether a stretch of plain text begins after this id (or at the start).
  bool ends_plain_text(TokenId id) const;
  void append_text(TokenId id, DecodeOptions options, std::string& text) const;

  SpmRules rules_;
  SpmMatcher user_defined_; // cut out of every text
  SpmMatcher special_; // those, control and unknown ones
  TokenId bos_ = kNoToken;
  TokenId eos_ = kNoToken;
  TokenId padding_ = kNoToken;
  bool add_bos_ = false;
  bool add_eos_ = false;
  bool add_space_prefix_ = false;
};

/// Turns ids that arrive one by one into text that is ready to print: whole
/// characters only. Bytes that cannot become a character show as U+FFFD, one
/// for each maximal subpart, as soon as that is certain. One thread; the
/// tokenizer must outlive it.
class Detokenizer {
 public:
  explicit Detokenizer(const Tokenizer& tokenizer, DecodeOptions options = {})
      : tokenizer_(tokenizer), options_(options) {}

  /// The characters that `id` completes, maybe none.
  std::string push(TokenId id);
  /// What the end leaves incomplete, as U+FFFD; then as new, after the last id.
  std::string flush();
  /// The bytes of a character that is not complete.
  std::string_view held() const {
    return pending_;
  }

 private:
  const Tokenizer& tokenizer_;
  DecodeOptions options_;
  std::string pending_; // the first bytes of a character
};

} // namespace holdfast
