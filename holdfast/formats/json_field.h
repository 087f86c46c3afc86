// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A value of a JSON file with the way to it, so that what is wrong is named:
// "<file>: model.vocab: expected ..., got ...". Members throw Error: kCorrupt
// where a value is not what its format says. The document must outlive it. Any
// thread.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "holdfast/base/status.h"

namespace holdfast {

class JsonField {
 public:
  JsonField(const nlohmann::json& document, std::string file);

  bool is_null() const; // or absent
  bool is_object() const;
  bool is_list() const;
  bool is_text() const;

  /// A member of an object; absent ones are null. Of something else: kCorrupt.
  JsonField operator[](std::string_view key) const;
  /// All items of a list.
  std::vector<JsonField> items() const;
  /// The keys of an object.
  std::vector<std::string> keys() const;

  const std::string& text() const;
  bool boolean() const;
  bool boolean_or(bool otherwise) const; // where it is null
  int64_t integer() const; // not negative

  /// kUnsupported where the object has a member that is none of these: what
  /// is not known is not passed by.
  void expect_only(std::initializer_list<std::string_view> known) const;

  [[noreturn]] void corrupt(const std::string& expected) const;
  [[noreturn]] void unsupported(const std::string& expected) const;

 private:
  JsonField(const nlohmann::json* value, std::string where)
      : value_(value), where_(std::move(where)) {}
  [[noreturn]] void refuse(ErrorCode code, const std::string& expected) const;
  std::string shown() const;

  const nlohmann::json* value_; // never nullptr
  std::string where_; // "<file>: <path>"
};

/// The JSON object in a file's bytes. Throws Error kCorrupt, with the place,
/// for anything else, and where it is nested deeper than 64.
nlohmann::json
parse_json_object(std::string_view bytes, const std::string& file);

} // namespace holdfast
