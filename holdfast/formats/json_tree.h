// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Builds a JSON document event by event, so that a reader may keep parts of it
// in another form (see VocabularyEvents). Faults are thrown as Error, kCorrupt
// with the place: "<file>: expected ..., got ...". One thread.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "holdfast/base/status.h"

namespace holdfast {

class JsonTree : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonTree(std::string file) : file_(std::move(file)) {}

  /// The document, an object.
  nlohmann::json take();

  bool null() override {
    return put(nullptr);
  }
  bool boolean(bool value) override {
    return put(value);
  }
  bool number_integer(number_integer_t value) override {
    return put(value);
  }
  bool number_unsigned(number_unsigned_t value) override {
    return put(value);
  }
  bool number_float(number_float_t value, const string_t&) override {
    return put(value);
  }
  bool string(string_t& value) override {
    return put(std::move(value));
  }
  bool binary(binary_t&) override {
    return false; // not in JSON text
  }
  bool key(string_t& key) override;
  bool start_object(size_t) override {
    return open(nlohmann::json::object());
  }
  bool start_array(size_t) override {
    return open(nlohmann::json::array());
  }
  bool end_object() override {
    return close();
  }
  bool end_array() override {
    return close();
  }
  bool parse_error(
      size_t position,
      const std::string& last_token,
      const nlohmann::json::exception& error) override;

 protected:
  [[noreturn]] void complain(const std::string& text) const;
  const std::string& file() const {
    return file_;
  }
  size_t depth() const {
    return open_.size();
  }

 private:
  bool put(nlohmann::json value);
  bool open(nlohmann::json value);
  bool close();
  nlohmann::json* add(nlohmann::json value);

  std::string file_;
  nlohmann::json document_;
  std::vector<nlohmann::json*> open_; // objects and lists, outermost first
  std::vector<std::string> keys_; // of the value to come in each open object
};

} // namespace holdfast
