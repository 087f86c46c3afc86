// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/gguf_tokenizer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/base/quoted_text.h"
#include "holdfast/formats/bpe_model.h"
#include "holdfast/formats/spm_model.h"
#include "holdfast/formats/word_presets.h"

namespace holdfast {
namespace {

constexpr const char* kModelKey = "tokenizer.ggml.model";
constexpr const char* kWordsKey = "tokenizer.ggml.pre";

/// The array, or a refusal where it is absent.
template <class Array>
Array required(
    const GgufFile& file,
    const char* key,
    const std::optional<Array>& array) {
  if (!array) {
    throw file.refusal(key, "an array", "no such key");
  }
  return *array;
}

std::vector<int32_t> stored_types(const GgufFile& file) {
  constexpr const char* kKey = "tokenizer.ggml.token_type";
  const auto stored = required(file, kKey, file.integers(kKey));
  std::vector<int32_t> types(static_cast<size_t>(stored.size()));
  for (size_t i = 0; i < types.size(); ++i) {
    // What does not fit is no type either.
    types[i] = static_cast<int32_t>(
        std::clamp<int64_t>(stored[static_cast<int64_t>(i)], -1, 1000));
  }
  return types;
}

int64_t stored_id(const GgufFile& file, const char* key) {
  return file.integer(key).value_or(kNoToken);
}

/// "[tokenizer] scores: ..." is of the key tokenizer.ggml.scores.
Tokenizer
built(const GgufFile& file, Result<std::shared_ptr<const TokenModel>> model) {
  if (model.ok()) {
    return Tokenizer(std::move(model).value());
  }
  constexpr std::string_view kFrom = "[tokenizer] ";
  std::string text = model.status().text();
  if (text.starts_with(kFrom)) {
    text.replace(0, kFrom.size(), "tokenizer.ggml.");
  }
  throw Error(model.status().code(), file.name() + ": " + text);
}

Tokenizer read_spm(const GgufFile& file) {
  const auto pieces = required(
      file, "tokenizer.ggml.tokens", file.texts("tokenizer.ggml.tokens"));
  const auto stored_scores = required(
      file, "tokenizer.ggml.scores", file.numbers("tokenizer.ggml.scores"));
  std::vector<float> scores(static_cast<size_t>(stored_scores.size()));
  for (size_t i = 0; i < scores.size(); ++i) {
    scores[i] = stored_scores[static_cast<int64_t>(i)];
  }
  const std::vector<int32_t> types = stored_types(file);
  SpmVocabulary vocabulary;
  vocabulary.pieces.assign(pieces.begin(), pieces.end());
  vocabulary.scores = scores;
  vocabulary.types = types;
  vocabulary.bos = stored_id(file, "tokenizer.ggml.bos_token_id");
  vocabulary.eos = stored_id(file, "tokenizer.ggml.eos_token_id");
  vocabulary.unknown = stored_id(file, "tokenizer.ggml.unknown_token_id");
  vocabulary.padding = stored_id(file, "tokenizer.ggml.padding_token_id");
  // What the format's SentencePiece models do where a file does not say.
  vocabulary.add_bos = file.boolean("tokenizer.ggml.add_bos_token")
                           .value_or(vocabulary.bos != kNoToken);
  vocabulary.add_eos =
      file.boolean("tokenizer.ggml.add_eos_token").value_or(false);
  vocabulary.add_space_prefix =
      file.boolean("tokenizer.ggml.add_space_prefix").value_or(true);
  return built(file, SpmModel::build(std::move(vocabulary)));
}

/// Pieces, their types, and those that are cut out of text.
void read_pieces(const GgufFile& file, BpeSpec& spec) {
  constexpr const char* kTypes = "tokenizer.ggml.token_type";
  const auto pieces = required(
      file, "tokenizer.ggml.tokens", file.texts("tokenizer.ggml.tokens"));
  spec.pieces.assign(pieces.begin(), pieces.end());
  const std::vector<int32_t> types = stored_types(file);
  if (types.size() != spec.pieces.size()) {
    throw file.refusal(
        kTypes,
        "as many types as pieces (" + std::to_string(spec.pieces.size()) + ")",
        std::to_string(types.size()));
  }
  for (size_t i = 0; i < types.size(); ++i) {
    const auto type = static_cast<PieceType>(types[i]);
    if (types[i] < 1 || types[i] > 5) {
      throw file.refusal(
          kTypes,
          "a type from 1 to 5 of piece " + std::to_string(i),
          std::to_string(types[i]));
    }
    const bool special =
        type == PieceType::kControl || type == PieceType::kUnknown;
    if ((special || type == PieceType::kUserDefined) &&
        !spec.pieces[i].empty()) {
      spec.added.push_back(
          {.id = static_cast<TokenId>(i),
           .text = std::string(spec.pieces[i]),
           .special = special});
    }
    spec.types.push_back(type);
  }
}

void read_merges(const GgufFile& file, BpeSpec& spec) {
  constexpr const char* kKey = "tokenizer.ggml.merges";
  const auto lines = required(file, kKey, file.texts(kKey));
  for (const std::string_view line : lines) {
    // The alphabet has no space, so that there is one.
    const size_t space = line.find(' ');
    if (space == line.npos) {
      throw file.refusal(
          kKey, "two pieces with a space between", quoted_text(line));
    }
    spec.merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
}

Tokenizer read_bpe(const GgufFile& file) {
  BpeSpec spec;
  const auto words = file.text(kWordsKey);
  if (!words || !apply_word_preset(*words, spec)) {
    throw file.refusal(
        kWordsKey,
        "one of " + word_preset_names(),
        words ? quoted_text(*words) : "no such key");
  }
  read_pieces(file, spec);
  read_merges(file, spec);
  SpecialIds& special = spec.special;
  const auto read_id = [&](const char* key, TokenId& id) {
    const int64_t stored = stored_id(file, key);
    if (stored < kNoToken ||
        stored >= static_cast<int64_t>(spec.pieces.size())) {
      throw file.refusal(key, "a token's id", std::to_string(stored));
    }
    id = static_cast<TokenId>(stored);
  };
  read_id("tokenizer.ggml.bos_token_id", special.bos);
  read_id("tokenizer.ggml.eos_token_id", special.eos);
  read_id("tokenizer.ggml.unknown_token_id", special.unknown);
  read_id("tokenizer.ggml.padding_token_id", special.padding);
  special.add_bos = file.boolean("tokenizer.ggml.add_bos_token")
                        .value_or(special.add_bos && special.bos != kNoToken);
  special.add_eos =
      file.boolean("tokenizer.ggml.add_eos_token").value_or(false);
  return built(file, BpeModel::build(std::move(spec)));
}

} // namespace

Result<Tokenizer> read_gguf_tokenizer(const GgufFile& file) {
  try {
    const auto kind = file.text(kModelKey);
    if (kind && *kind == "llama") {
      return read_spm(file);
    }
    if (kind && *kind == "gpt2") {
      return read_bpe(file);
    }
    throw file.refusal(
        kModelKey,
        "llama (SentencePiece) or gpt2 (byte-level BPE)",
        kind ? quoted_text(*kind) : "no such key");
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

} // namespace holdfast
