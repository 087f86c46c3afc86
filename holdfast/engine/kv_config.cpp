// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/kv_config.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "holdfast/base/check.h"
#include "holdfast/base/quoted_text.h"
#include "holdfast/env/mapped_file.h"
#include "holdfast/formats/json_bytes.h"

namespace holdfast {

namespace {

using nlohmann::json;

constexpr size_t kLargestFile = 1 << 20;
constexpr int64_t kMostLayers = 4096;

[[noreturn]] void refuse(
    const std::string& where,
    const std::string& wanted,
    const std::string& got) {
  throw Error(
      ErrorCode::kInvalidArgument,
      "[kv-config] " + where + ": expected " + wanted + ", got " + got);
}

/// Remembers the keys of every open object: the parser itself keeps the last
/// of two equal ones.
class NoRepeats {
 public:
  bool operator()(int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) {
      open_.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      open_.pop_back();
    } else if (event == json::parse_event_t::key) {
      const auto key = parsed.get<std::string>();
      if (!open_.back().insert(key).second) {
        refuse("$", "each key once", quoted_text(key) + " again");
      }
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> open_;
};

json parsed(std::string_view text) {
  require_no_nul(text, "[kv-config] $", ErrorCode::kInvalidArgument);
  try {
    NoRepeats check;
    return json::parse(text, std::ref(check));
  } catch (const json::exception& error) {
    refuse("$", "JSON", error.what());
  }
}

const json& object_at(const std::string& where, const json& value) {
  if (!value.is_object()) {
    refuse(where, "an object", value.type_name());
  }
  return value;
}

KvChoice choice_at(const std::string& where, const json& value) {
  if (!value.is_string()) {
    refuse(where, "a string such as \"q8/t3@1024\"", value.type_name());
  }
  const auto& text = value.get_ref<const std::string&>();
  if (std::any_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20;
      })) {
    refuse(where, "a string such as \"q8/t3@1024\"", quoted_text(text));
  }
  const auto choice = parse_kv_choice(text);
  if (!choice.ok()) {
    throw Error(
        choice.status().code(),
        "[kv-config] " + where + ": " + choice.status().text());
  }
  return choice.value();
}

std::optional<int64_t> number(std::string_view text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool digits = !text.empty() && text.front() != '-';
  return digits && error == std::errc() && stop == end && value < kMostLayers
      ? std::optional(value)
      : std::nullopt;
}

/// "4" or "4-7", both ends included.
std::pair<int64_t, int64_t>
layers_at(const std::string& where, std::string_view key) {
  const size_t dash = key.find('-');
  const auto first = number(key.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : number(key.substr(dash + 1));
  if (!first || !last || *last < *first) {
    refuse(where, "a layer or a range such as 4-7", quoted_text(key));
  }
  return {*first, *last};
}

void add_layers(const json& layers, KvPolicy& policy) {
  for (const auto& [key, value] : object_at("$.layers", layers).items()) {
    const std::string where = "$.layers." + escaped_text(key);
    const auto [first, last] = layers_at(where, key);
    const KvChoice choice = choice_at(where, value);
    for (int64_t layer = first; layer <= last; ++layer) {
      if (!policy.layers.emplace(layer, choice).second) {
        refuse(where, "each layer once", std::to_string(layer) + " again");
      }
    }
  }
}

KvPolicy policy_from(std::string_view text, const KvChoice& usual) {
  KvPolicy policy;
  policy.usual = usual;
  const json root = parsed(text);
  for (const auto& [key, value] : object_at("$", root).items()) {
    if (key == "default") {
      policy.usual = choice_at("$.default", value);
    } else if (key == "groups") {
      for (const auto& [name, choice] : object_at("$.groups", value).items()) {
        policy.groups[name] =
            choice_at("$.groups." + escaped_text(name), choice);
      }
    } else if (key == "layers") {
      add_layers(value, policy);
    } else {
      refuse(
          "$." + escaped_text(key),
          "default, groups or layers",
          quoted_text(key));
    }
  }
  return policy;
}

} // namespace

Result<KvPolicy> parse_kv_config(std::string_view text, const KvChoice& usual) {
  try {
    return policy_from(text, usual);
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

Result<KvPolicy>
read_kv_config(const std::string& path, const KvChoice& usual) {
  const auto file = MappedFile::open(path);
  if (!file.ok()) {
    return file.status();
  }
  const std::span<const std::byte> bytes = file.value().bytes();
  if (bytes.size() > kLargestFile) {
    return Status(
        ErrorCode::kInvalidArgument,
        path + ": [kv-config] expected at most 1 MiB, got " +
            std::to_string(bytes.size()) + " bytes");
  }
  Result<KvPolicy> policy = parse_kv_config(
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, usual);
  if (!policy.ok()) {
    const Status status = policy.status();
    return Status(status.code(), path + ": " + status.text());
  }
  return policy;
}

std::vector<LayerPhase> phases_of(const KvChoice& choice) {
  const auto phase = [](const KvCodecs& codecs, Position start) {
    return LayerPhase{
        .keys = codecs.keys, .values = codecs.values, .start = start};
  };
  if (choice.converts()) {
    return {phase(choice.first, Position(0)), phase(choice.then, choice.start)};
  }
  return {phase(
      choice.start == kNeverStart ? choice.first : choice.then, Position(0))};
}

Precision precision_of(const KvPolicy& policy, std::span<const KvLayer> model) {
  policy.fits(model).check();
  Precision precision{.phases = phases_of(policy.usual)};
  for (int64_t layer = 0; layer < std::ssize(model); ++layer) {
    const KvChoice& choice = policy.of(layer, model[layer].group);
    if (model[layer].key_dim > 0 && !(choice == policy.usual)) {
      precision.layers[layer] = phases_of(choice);
    }
  }
  return precision;
}

} // namespace holdfast
