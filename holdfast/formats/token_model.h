// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a Tokenizer stands on: a vocabulary with its way from text to ids and
// back. One class a kind. Immutable once built; const members from any thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/formats/piece_list.h"
#include "holdfast/formats/token_id.h"

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

/// The ids that a vocabulary names.
struct SpecialIds {
  TokenId bos = kNoToken;
  TokenId eos = kNoToken;
  TokenId unknown = kNoToken;
  TokenId padding = kNoToken;
  bool add_bos = false; // encode() puts bos first where asked to add specials
  bool add_eos = false;
};

/// Where decoding stands: what the next id's text depends on.
struct DecodePlace {
  TokenId after = kNoToken;
  bool begun = false; // some text came before
};

class TokenModel {
 public:
  virtual ~TokenModel() = default;

  /// The kind, for people: "SentencePiece BPE".
  virtual std::string_view kind() const = 0;
  virtual const SpecialIds& special() const = 0;
  int64_t size() const {
    return static_cast<int64_t>(list().pieces.size());
  }
  std::string_view piece(TokenId id) const { // id < size()
    return list().pieces[static_cast<size_t>(id)];
  }
  PieceType type(TokenId id) const { // id < size()
    return list().types[static_cast<size_t>(id)];
  }
  /// The id of an equal piece, or kNoToken.
  TokenId find(std::string_view piece) const {
    return list().table.find(piece);
  }

  /// Appends the ids of the text alone: no bos, no eos.
  virtual void encode(
      std::string_view text,
      const EncodeOptions& options,
      std::vector<TokenId>& ids) const = 0;

  /// Appends the bytes of id < size() and goes on behind it.
  virtual void append_text(
      TokenId id,
      bool show_special,
      DecodePlace& place,
      std::string& text) const = 0;

 private:
  virtual const PieceList& list() const = 0;
};

} // namespace holdfast
