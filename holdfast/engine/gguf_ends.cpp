// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/gguf_ends.h"

#include <algorithm>
#include <string>

namespace holdfast {

namespace {

// Of a turn, in models made for conversation, and of a message that calls.
constexpr const char* kKeys[] = {
    "tokenizer.ggml.eot_token_id",
    "tokenizer.ggml.eom_token_id"};

constexpr const char* kPieces[] = {
    "<|eot_id|>", // llama 3
    "<|eom_id|>",
    "<|im_end|>", // qwen
    "<|endoftext|>", // qwen, phi 3
    "<end_of_turn>", // gemma
    "<|end|>", // phi 3
    "<|return|>", // gpt-oss
    "<|call|>"};

/// gpt-oss ends each message with the piece that ends phi 3's turns.
bool ends_a_message_alone(const Tokenizer& tokenizer, std::string_view piece) {
  return piece == "<|end|>" && tokenizer.find("<|return|>") != kNoToken;
}

} // namespace

std::vector<int32_t>
gguf_ends(const GgufFile& file, const Tokenizer& tokenizer) {
  std::vector<int32_t> ids;
  const auto add = [&](TokenId id) {
    if (id != kNoToken && std::ranges::find(ids, id) == ids.end()) {
      ids.push_back(id);
    }
  };
  add(tokenizer.eos());
  for (const char* key : kKeys) {
    const auto id = file.integer(key);
    if (id && (*id < 0 || *id >= tokenizer.size())) {
      throw file.refusal(key, "a token's id", std::to_string(*id));
    }
    add(id ? static_cast<TokenId>(*id) : kNoToken);
  }
  for (const char* piece : kPieces) {
    const TokenId id = tokenizer.find(piece);
    if (id != kNoToken && tokenizer.type(id) == PieceType::kControl &&
        !ends_a_message_alone(tokenizer, piece)) {
      add(id);
    }
  }
  return ids;
}

} // namespace holdfast
