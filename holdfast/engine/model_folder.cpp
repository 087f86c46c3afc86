// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/model_folder.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "holdfast/env/folder_file.h"
#include "holdfast/env/mapped_file.h"
#include "holdfast/formats/tokenizer_folder.h"

namespace holdfast {

namespace {

constexpr const char* kConfig = "config.json";
/// Beside the tensors, what decides which bits a text gives.
constexpr const char* kDeciding[] = {
    "added_tokens.json",
    kConfig,
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json"};

void sort_parts(std::vector<ModelPart>& parts) {
  std::ranges::sort(parts, {}, &ModelPart::name);
}

} // namespace

bool is_model_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

ModelFile open_model_folder(const std::string& folder) {
  // Before they are read: one that changes meanwhile is found out when its
  // digest is taken.
  std::vector<ModelPart> parts;
  for (const char* name : kDeciding) {
    const auto path = file_in_folder(folder, name);
    const bool optional = std::string_view(name) != kConfig;
    if (optional && path.status().code() == ErrorCode::kNotFound) {
      continue;
    }
    parts.push_back(
        {.name = name,
         .path = path.value(),
         .identity = MappedFile::open(path.value()).value().identity()});
  }
  FolderTokenizer tokenizer = read_tokenizer_folder(folder).value();
  ModelFile result{
      .file = nullptr,
      .tokenizer = std::move(tokenizer.tokenizer),
      .end_tokens = {tokenizer.end_ids.begin(), tokenizer.end_ids.end()},
      .chat_template = std::move(tokenizer.chat_template),
      .parts = std::move(parts)};
  if (tokenizer.generation) {
    result.sampling = parse_sampling_defaults(
        *tokenizer.generation, folder + "/generation_config.json");
  }
  sort_parts(result.parts);
  return result;
}

void add_tensor_files(const FolderWeights& weights, ModelFile& model) {
  for (const auto& shard : weights.files().shards()) {
    model.parts.push_back(
        {.name = shard->name,
         .path = shard->file.path(),
         .identity = shard->file.identity()});
  }
  sort_parts(model.parts);
}

} // namespace holdfast
