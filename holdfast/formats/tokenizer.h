// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Text <-> token ids, whatever the vocabulary: the front of a TokenModel (see
// docs/tokenizer.md). Every text has ids, also one that is not UTF-8. A value:
// copies share what is immutable. Const members from any thread.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/formats/spm_vocabulary.h"
#include "holdfast/formats/token_model.h"

namespace holdfast {

class Tokenizer {
 public:
  explicit Tokenizer(std::shared_ptr<const TokenModel> model)
      : model_(std::move(model)) {}

  /// As SpmModel::build().
  static Result<Tokenizer> build(SpmVocabulary vocabulary);

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

  /// What kind it is, for people: "SentencePiece BPE".
  std::string_view kind() const {
    return model_->kind();
  }
  int64_t size() const {
    return model_->size();
  }
  TokenId bos() const {
    return model_->special().bos;
  }
  TokenId eos() const {
    return model_->special().eos;
  }
  TokenId unknown() const {
    return model_->special().unknown;
  }
  TokenId padding() const {
    return model_->special().padding;
  }
  bool add_bos() const {
    return model_->special().add_bos;
  }
  bool add_eos() const {
    return model_->special().add_eos;
  }

  static constexpr size_t kMaxTextBytes = size_t{1} << 29;

 private:
  friend class Detokenizer;

  void check_id(TokenId id) const;
  DecodePlace place_after(TokenId id) const;

  std::shared_ptr<const TokenModel> model_;
};

/// Turns ids that arrive one by one into text that is ready to print: whole
/// characters only. Bytes that cannot become a character show as U+FFFD, one
/// for each maximal subpart, as soon as that is certain. One thread; the
/// tokenizer must outlive it.
class Detokenizer {
 public:
  explicit Detokenizer(const Tokenizer& tokenizer, DecodeOptions options = {})
      : tokenizer_(tokenizer),
        show_special_(options.show_special),
        place_(tokenizer.place_after(options.after)) {}

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
  bool show_special_;
  DecodePlace place_;
  std::string pending_; // the first bytes of a character
};

} // namespace holdfast
