// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/json_field.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "holdfast/base/quoted_text.h"
#include "holdfast/formats/json_bytes.h"
#include "holdfast/formats/json_tree.h"

namespace holdfast {
namespace {

const nlohmann::json kNull;

} // namespace

JsonField::JsonField(const nlohmann::json& document, std::string file)
    : value_(&document), where_(std::move(file) + ":") {}

bool JsonField::is_null() const {
  return value_->is_null();
}
bool JsonField::is_object() const {
  return value_->is_object();
}
bool JsonField::is_list() const {
  return value_->is_array();
}
bool JsonField::is_text() const {
  return value_->is_string();
}

JsonField JsonField::operator[](std::string_view key) const {
  if (!is_object()) {
    corrupt("an object");
  }
  std::string where = where_;
  where += where.ends_with(':') ? " " : ".";
  where += escaped_text(key);
  const auto found = value_->find(key);
  return {found == value_->end() ? &kNull : &*found, std::move(where)};
}

std::vector<JsonField> JsonField::items() const {
  if (!is_list()) {
    corrupt("a list");
  }
  std::vector<JsonField> result;
  for (size_t i = 0; i < value_->size(); ++i) {
    result.push_back(
        JsonField(&(*value_)[i], where_ + "[" + std::to_string(i) + "]"));
  }
  return result;
}

std::vector<std::string> JsonField::keys() const {
  if (!is_object()) {
    corrupt("an object");
  }
  std::vector<std::string> result;
  for (const auto& [key, value] : value_->items()) {
    result.push_back(key);
  }
  return result;
}

const std::string& JsonField::text() const {
  if (!is_text()) {
    corrupt("a text");
  }
  return value_->get_ref<const std::string&>();
}

bool JsonField::boolean() const {
  if (!value_->is_boolean()) {
    corrupt("true or false");
  }
  return value_->get<bool>();
}

bool JsonField::boolean_or(bool otherwise) const {
  return is_null() ? otherwise : boolean();
}

int64_t JsonField::integer() const {
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  if (!value_->is_number_unsigned() || value_->get<uint64_t>() > kMost) {
    corrupt("a number from 0 on");
  }
  return value_->get<int64_t>();
}

void JsonField::expect_only(
    std::initializer_list<std::string_view> known) const {
  for (const std::string& key : keys()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      std::string names;
      for (const std::string_view name : known) {
        names += (names.empty() ? "" : ", ") + std::string(name);
      }
      refuse(
          ErrorCode::kUnsupported,
          "no members but " + names + ", got " + quoted_text(key));
    }
  }
}

std::string JsonField::shown() const {
  if (is_text()) {
    return quoted_text(value_->get_ref<const std::string&>());
  }
  if (is_object() || is_list()) {
    return is_object() ? "an object" : "a list";
  }
  return is_null() ? "nothing" : value_->dump();
}

void JsonField::corrupt(const std::string& expected) const {
  refuse(ErrorCode::kCorrupt, expected + ", got " + shown());
}

void JsonField::unsupported(const std::string& expected) const {
  refuse(ErrorCode::kUnsupported, expected + ", got " + shown());
}

void JsonField::refuse(ErrorCode code, const std::string& expected) const {
  throw Error(
      code,
      where_ + (where_.ends_with(':') ? "" : ":") + " expected " + expected);
}

nlohmann::json
parse_json_object(std::string_view bytes, const std::string& file) {
  JsonTree tree(file);
  read_json(bytes, file, tree);
  return tree.take();
}

} // namespace holdfast
