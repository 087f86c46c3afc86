// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/tokenizer.h"

#include <string>

#include "holdfast/base/check.h"
#include "holdfast/formats/spm_model.h"

namespace holdfast {

Result<Tokenizer> Tokenizer::build(SpmVocabulary vocabulary) {
  auto model = SpmModel::build(std::move(vocabulary));
  if (!model.ok()) {
    return model.status();
  }
  return Tokenizer(std::move(model).value());
}

std::vector<TokenId>
Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  expect(
      text.size() <= kMaxTextBytes,
      "[tokenizer] expected a text of at most 512 MiB, got more");
  if (options.after != kNoToken) {
    check_id(options.after);
  }
  std::vector<TokenId> ids;
  ids.reserve(text.size() / 3 + 2);
  if (options.add_special && add_bos()) {
    ids.push_back(bos());
  }
  model_->encode(text, options, ids);
  if (options.add_special && add_eos()) {
    ids.push_back(eos());
  }
  return ids;
}

std::string
Tokenizer::decode(std::span<const TokenId> ids, DecodeOptions options) const {
  std::string text;
  DecodePlace place = place_after(options.after);
  for (const TokenId id : ids) {
    check_id(id);
    model_->append_text(id, options.show_special, place, text);
  }
  return text;
}

DecodePlace Tokenizer::place_after(TokenId id) const {
  if (id == kNoToken) {
    return {};
  }
  const PieceType kind = type(id);
  return {
      .after = id,
      .begun = kind != PieceType::kControl && kind != PieceType::kUnknown};
}

void Tokenizer::check_id(TokenId id) const {
  if (id < 0 || id >= size()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[tokenizer] expected an id below " + std::to_string(size()) +
            ", got " + std::to_string(id));
  }
}

std::string_view Tokenizer::piece(TokenId id) const {
  check_id(id);
  return model_->piece(id);
}

PieceType Tokenizer::type(TokenId id) const {
  check_id(id);
  return model_->type(id);
}

TokenId Tokenizer::find(std::string_view piece) const {
  return model_->find(piece);
}

} // namespace holdfast
