// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/folder_config.h"

#include <utility>
#include <vector>

#include "holdfast/engine/json_settings.h"
#include "holdfast/env/folder_file.h"
#include "holdfast/env/mapped_file.h"

namespace holdfast {

namespace {

constexpr const char* kConfig = "config.json";
constexpr int64_t kLargestConfig = int64_t{16} << 20;

/// "text_config.x" becomes "x", but for the family's name.
void lift_language_part(SettingValues& values) {
  constexpr std::string_view kPart = "text_config.";
  std::vector<std::pair<std::string, Setting>> lifted;
  for (auto at = values.lower_bound(kPart);
       at != values.end() && at->first.starts_with(kPart);
       ++at) {
    lifted.emplace_back(at->first.substr(kPart.size()), at->second);
  }
  for (auto& [name, value] : lifted) {
    if (name != "model_type") {
      values[name] = std::move(value);
    }
  }
}

} // namespace

Settings
parse_folder_settings(std::string_view json, const std::string& where) {
  SettingValues values = parse_json_settings(json, where);
  lift_language_part(values);
  return {where, std::move(values)};
}

Settings read_folder_settings(const std::string& folder) {
  const MappedFile file =
      MappedFile::open(file_in_folder(folder, kConfig).value()).value();
  const std::string where = folder + "/" + kConfig;
  const auto bytes = file.bytes();
  if (std::ssize(bytes) > kLargestConfig) {
    throw Error(
        ErrorCode::kCorrupt,
        where + ": expected at most 16 MiB, got " +
            std::to_string(bytes.size()) + " bytes");
  }
  return parse_folder_settings(
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, where);
}

ModelConfig folder_model_config(const Settings& settings) {
  ModelConfig config;
  config.family = settings.text("model_type");
  config.layers = settings.size("num_hidden_layers");
  config.hidden = settings.size("hidden_size");
  config.ffn = settings.size("intermediate_size", 0);
  config.query_heads = settings.size("num_attention_heads");
  config.kv_heads = settings.size("num_key_value_heads", config.query_heads);
  config.vocab = settings.size("vocab_size");
  config.context = settings.size("max_position_embeddings", 0);
  config.window = settings.size("sliding_window", 0);
  config.norm_eps = settings.number("rms_norm_eps");
  for (const auto& [name, value] :
       {std::pair("num_hidden_layers", config.layers),
        std::pair("hidden_size", config.hidden),
        std::pair("num_attention_heads", config.query_heads),
        std::pair("num_key_value_heads", config.kv_heads),
        std::pair("vocab_size", config.vocab)}) {
    if (value < 1) {
      throw settings.refusal(name, "at least 1", "0");
    }
  }
  if (config.query_heads % config.kv_heads != 0) {
    throw settings.refusal(
        "num_key_value_heads",
        "a divisor of num_attention_heads " +
            std::to_string(config.query_heads),
        std::to_string(config.kv_heads));
  }
  config.head_dim =
      settings.size("head_dim", config.hidden / config.query_heads);
  if (config.head_dim < 1) {
    throw settings.refusal("head_dim", "at least 1", "0");
  }
  return config;
}

} // namespace holdfast
