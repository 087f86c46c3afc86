// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/tokenizer_folder.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "holdfast/env/folder_file.h"
#include "holdfast/formats/json_field.h"
#include "holdfast/formats/read_tokenizer.h"
#include "holdfast/formats/tokenizer_json.h"
#include "holdfast/formats/tokenizer_model.h"
#include "holdfast/formats/utf8.h"

namespace holdfast {
namespace {

constexpr const char* kConfig = "tokenizer_config.json";
constexpr const char* kGeneration = "generation_config.json";
constexpr const char* kModelConfig = "config.json";
constexpr const char* kTemplateFile = "chat_template.jinja";
constexpr const char* kSpecial = "special_tokens_map.json";
constexpr const char* kOlderAdded = "added_tokens.json";
constexpr const char* kAdded = "added_tokens_decoder";

class Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {}

  std::string path_of(const char* name) const {
    return path_ + "/" + name;
  }

  /// The file's bytes, or none where there is no such file.
  std::optional<std::string> bytes(const char* name) const {
    const auto path = file_in_folder(path_, name);
    if (path.status().code() == ErrorCode::kNotFound) {
      return std::nullopt;
    }
    return read_text_file(path.value()).value();
  }

  /// A JSON object; an empty one where there is no such file.
  nlohmann::json object(const char* name) const {
    const auto text = bytes(name);
    return text ? parse_json_object(*text, path_of(name))
                : nlohmann::json::object();
  }

 private:
  std::string path_;
};

/// A token is named by its text, or by an object that holds it.
std::optional<std::string> token_text(const JsonField& field) {
  if (field.is_null()) {
    return std::nullopt;
  }
  return field.is_object() ? field["content"].text() : field.text();
}

/// Their classes in the hubs' library build the post-processor anew from
/// add_bos_token and add_eos_token; other classes take that of the file.
bool rebuilds_post_processor(const JsonField& config) {
  constexpr std::array<std::string_view, 4> kClasses = {
      "LlamaTokenizer",
      "LlamaTokenizerFast",
      "GemmaTokenizer",
      "GemmaTokenizerFast"};
  const JsonField name = config["tokenizer_class"];
  return name.is_text() &&
      std::find(kClasses.begin(), kClasses.end(), name.text()) !=
      kClasses.end();
}

std::optional<bool> flag(const JsonField& field) {
  return field.is_null() ? std::nullopt : std::optional(field.boolean());
}

TokenizerNames read_names(
    const JsonField& config,
    const JsonField& special,
    const std::string& file) {
  const auto token = [&](const char* key) {
    auto named = token_text(config[key]);
    return named ? named : token_text(special[key]);
  };
  return {
      .bos = token("bos_token"),
      .eos = token("eos_token"),
      .padding = token("pad_token"),
      .add_bos = flag(config["add_bos_token"]),
      .add_eos = flag(config["add_eos_token"]),
      .file = file};
}

std::vector<AddedToken> read_added(const JsonField& tokens) {
  std::vector<AddedToken> result;
  if (tokens.is_null()) {
    return result;
  }
  for (const std::string& key : tokens.keys()) {
    const JsonField token = tokens[key];
    if (key.empty() || key.size() > 9 ||
        key.find_first_not_of("0123456789") != key.npos) {
      token.corrupt("an id as its name");
    }
    result.push_back(
        {.id = static_cast<TokenId>(std::stol(key)),
         .text = token["content"].text(),
         .special = token["special"].boolean_or(false),
         .single_word = token["single_word"].boolean_or(false),
         .left_strip = token["lstrip"].boolean_or(false),
         .right_strip = token["rstrip"].boolean_or(false)});
  }
  std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
    return a.id < b.id;
  });
  return result;
}

/// Whether one of its fields names the token, or a list in it does.
bool is_special(const JsonField& special, const std::string& token) {
  for (const std::string& key : special.keys()) {
    const JsonField field = special[key];
    const auto named =
        field.is_list() ? field.items() : std::vector<JsonField>{field};
    for (const JsonField& one : named) {
      if (token_text(one) == token) {
        return true;
      }
    }
  }
  return false;
}

/// Of folders older than added_tokens_decoder: {text: id}.
std::vector<AddedToken>
read_older_added(const JsonField& ids, const JsonField& special) {
  std::vector<AddedToken> result;
  for (const std::string& token : ids.keys()) {
    constexpr int64_t kMostIds = int64_t{1} << 28;
    const int64_t id = ids[token].integer();
    if (id >= kMostIds || token.empty()) {
      ids[token].corrupt("a text and its id below " + std::to_string(kMostIds));
    }
    result.push_back(
        {.id = static_cast<TokenId>(id),
         .text = token,
         .special = is_special(special, token)});
  }
  std::ranges::sort(result, {}, &AddedToken::id);
  return result;
}

/// What the configuration adds is in the tokenizer's own file: there alone is
/// said how text becomes it.
void require_known(const Tokenizer& tokenizer, const JsonField& tokens) {
  for (const AddedToken& token : read_added(tokens)) {
    if (token.id >= tokenizer.size() ||
        tokenizer.piece(token.id) != token.text) {
      tokens[std::to_string(token.id)].unsupported(
          "a piece of tokenizer.json of this id and text");
    }
  }
}

Tokenizer read_tokenizer(
    const Folder& folder,
    const JsonField& config,
    const JsonField& special,
    TokenizerNames names) {
  if (const auto json = folder.bytes("tokenizer.json")) {
    if (!rebuilds_post_processor(config)) {
      names.add_bos = std::nullopt;
      names.add_eos = std::nullopt;
    }
    auto read =
        read_tokenizer_json(*json, folder.path_of("tokenizer.json"), names)
            .value();
    require_known(read, config[kAdded]);
    return read;
  }
  if (const auto model = folder.bytes("tokenizer.model")) {
    std::vector<AddedToken> added = read_added(config[kAdded]);
    names.added = folder.path_of(kConfig) + ": " + kAdded;
    if (config[kAdded].is_null()) {
      const nlohmann::json ids = folder.object(kOlderAdded);
      added = read_older_added(
          JsonField(ids, folder.path_of(kOlderAdded)), special);
      names.added = folder.path_of(kOlderAdded) + ": id";
    }
    return read_tokenizer_model(
               *model, folder.path_of("tokenizer.model"), names, added)
        .value();
  }
  throw Error(
      ErrorCode::kNotFound,
      folder.path_of("tokenizer.json") +
          ": expected this file or tokenizer.model, got neither");
}

/// A number, a list of them, or nothing.
void read_ids(const JsonField& field, int64_t size, std::vector<TokenId>& ids) {
  if (field.is_null()) {
    return;
  }
  const auto items =
      field.is_list() ? field.items() : std::vector<JsonField>{field};
  for (const JsonField& item : items) {
    if (item.integer() >= size) {
      item.corrupt("the id of a token, below " + std::to_string(size));
    }
    ids.push_back(static_cast<TokenId>(item.integer()));
  }
}

/// Those that a document names, itself or for its texts.
std::vector<TokenId> stated_ends(const JsonField& all, int64_t size) {
  std::vector<TokenId> ids;
  read_ids(all["eos_token_id"], size, ids);
  if (ids.empty() && all["text_config"].is_object()) {
    read_ids(all["text_config"]["eos_token_id"], size, ids);
  }
  return ids;
}

std::vector<TokenId> read_end_ids(
    const Folder& folder,
    const std::optional<std::string>& generation,
    const Tokenizer& tokenizer) {
  std::vector<TokenId> ids;
  if (generation) {
    const std::string file = folder.path_of(kGeneration);
    const nlohmann::json document = parse_json_object(*generation, file);
    ids = stated_ends(JsonField(document, file), tokenizer.size());
  }
  if (ids.empty()) {
    const nlohmann::json document = folder.object(kModelConfig);
    ids = stated_ends(
        JsonField(document, folder.path_of(kModelConfig)), tokenizer.size());
  }
  if (tokenizer.eos() != kNoToken) {
    ids.push_back(tokenizer.eos());
  }
  std::vector<TokenId> once;
  for (const TokenId id : ids) {
    if (std::find(once.begin(), once.end(), id) == once.end()) {
      once.push_back(id);
    }
  }
  return once;
}

std::string read_template(const Folder& folder, const JsonField& config) {
  if (auto text = folder.bytes(kTemplateFile)) {
    if (!is_utf8(*text)) {
      throw Error(
          ErrorCode::kCorrupt,
          folder.path_of(kTemplateFile) + ": expected UTF-8, got other bytes");
    }
    return std::move(*text);
  }
  const JsonField field = config["chat_template"];
  if (field.is_null()) {
    return {};
  }
  if (!field.is_list()) {
    return field.text();
  }
  for (const JsonField& item : field.items()) {
    if (item["name"].text() == "default") {
      return item["template"].text();
    }
  }
  field.unsupported("one template that is named default");
}

FolderTokenizer read_folder(const std::string& path) {
  const Folder folder(path);
  const nlohmann::json config_object = folder.object(kConfig);
  const nlohmann::json special_object = folder.object(kSpecial);
  const JsonField config(config_object, folder.path_of(kConfig));
  const JsonField special(special_object, folder.path_of(kSpecial));
  if (config["split_special_tokens"].boolean_or(false)) {
    config["split_special_tokens"].unsupported("false");
  }
  Tokenizer tokenizer = read_tokenizer(
      folder,
      config,
      special,
      read_names(config, special, folder.path_of(kConfig)));
  auto generation = folder.bytes(kGeneration);
  std::vector<TokenId> ends = read_end_ids(folder, generation, tokenizer);
  return {
      std::move(tokenizer),
      std::move(ends),
      read_template(folder, config),
      std::move(generation)};
}

} // namespace

Result<FolderTokenizer> read_tokenizer_folder(const std::string& folder) {
  try {
    return read_folder(folder);
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

} // namespace holdfast
