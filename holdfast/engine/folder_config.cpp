// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/folder_config.h"

#include <algorithm>
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

/// What published configurations of a family leave out, as its makers' own code
/// has it.
struct Default {
  std::string_view family;
  const char* name;
  double value;
};
constexpr Default kDefaults[] = {
    {"gemma3", "num_attention_heads", 8},
    {"gemma3", "num_key_value_heads", 4},
    {"gemma3", "head_dim", 256},
    {"gemma3", "vocab_size", 262208},
    {"gemma3", "max_position_embeddings", 131072},
    {"gemma3", "rms_norm_eps", 1e-6},
    {"mistral", "sliding_window", 4096},
};

/// null stays what it is: a setting of no value.
void add_defaults(SettingValues& values) {
  const auto found = values.find("model_type");
  const auto* family = found == values.end()
      ? nullptr
      : std::get_if<std::string>(&found->second);
  for (const Default& one : kDefaults) {
    if (family == nullptr || *family != one.family) {
      continue;
    }
    const auto whole = static_cast<int64_t>(one.value);
    values.emplace(
        one.name,
        static_cast<double>(whole) == one.value ? Setting(whole)
                                                : Setting(one.value));
  }
}

} // namespace

Settings
parse_folder_settings(std::string_view json, const std::string& where) {
  SettingValues values = parse_json_settings(json, where);
  lift_language_part(values);
  add_defaults(values);
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
  if (config.family == "gemma3") {
    config.family = "gemma3_text"; // of images and text the language part
  }
  config.layers = settings.size("num_hidden_layers");
  config.hidden = settings.size("hidden_size");
  config.ffn = settings.size("intermediate_size", 0);
  config.query_heads = settings.size("num_attention_heads");
  config.kv_heads = settings.size("num_key_value_heads", config.query_heads);
  config.vocab = settings.size("vocab_size");
  config.context = settings.size("max_position_embeddings", 0);
  config.window = settings.size("sliding_window", 0);
  config.norm_eps = settings.number("rms_norm_eps");
  config.head_dim = settings.size(
      "head_dim", config.hidden / std::max<int64_t>(1, config.query_heads));
  for (const auto& [name, value] :
       {std::pair("num_hidden_layers", config.layers),
        std::pair("hidden_size", config.hidden),
        std::pair("num_attention_heads", config.query_heads),
        std::pair("num_key_value_heads", config.kv_heads),
        std::pair("vocab_size", config.vocab),
        std::pair("head_dim", config.head_dim)}) {
    if (value < 1 || value > kMostModelSize) {
      throw settings.refusal(
          name,
          "1 to " + std::to_string(kMostModelSize),
          std::to_string(value));
    }
  }
  if (config.query_heads % config.kv_heads != 0) {
    throw settings.refusal(
        "num_key_value_heads",
        "a divisor of num_attention_heads " +
            std::to_string(config.query_heads),
        std::to_string(config.kv_heads));
  }
  return config;
}

} // namespace holdfast
