// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Read event by event: what is skipped is not kept, however deep it is.

#include "holdfast/formats/safetensors_index.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "holdfast/base/quoted_text.h"
#include "holdfast/formats/json_bytes.h"

namespace holdfast {

namespace {

class Events : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Events(std::string_view file) : file_(file) {}

  SafetensorsIndex take() {
    if (!seen_) {
      complain("", "a weight_map", "none");
    }
    if (index_.empty()) {
      complain("weight_map", "at least one tensor", "none");
    }
    return std::move(index_);
  }

  bool key(string_t& key) override {
    if (depth_ == 1) {
      field_ = key;
      if (field_ == "weight_map" && std::exchange(seen_, true)) {
        complain("weight_map", "it once", "it again");
      }
    } else if (in_map()) {
      tensor_ = key;
    }
    return true;
  }
  bool string(string_t& value) override {
    if (in_map()) {
      if (!index_.emplace(tensor_, value).second) {
        complain("weight_map", "each tensor once", quoted_text(tensor_));
      }
      return true;
    }
    return other("a text");
  }
  bool start_object(size_t) override {
    ++depth_;
    if (depth_ > 2 && field_ == "weight_map") {
      complain("weight_map", "a file for each tensor", "an object");
    }
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(size_t) override {
    other("a list");
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool null() override {
    return other("null");
  }
  bool boolean(bool) override {
    return other("a boolean");
  }
  bool number_integer(number_integer_t) override {
    return other("a number");
  }
  bool number_unsigned(number_unsigned_t) override {
    return other("a number");
  }
  bool number_float(number_float_t, const string_t&) override {
    return other("a number");
  }
  bool binary(binary_t&) override {
    return other("bytes");
  }
  bool parse_error(
      size_t position,
      const std::string&,
      const nlohmann::detail::exception&) override {
    complain("", "JSON", "other bytes at " + std::to_string(position));
  }

 private:
  bool in_map() const {
    return depth_ == 2 && field_ == "weight_map";
  }
  /// What is no file's name: skipped, but not in the map or in its place.
  bool other(const char* got) const {
    if (depth_ == 0) {
      complain("", "an object", got);
    }
    if (field_ == "weight_map") {
      complain("weight_map", "an object of tensors and their files", got);
    }
    return true;
  }
  [[noreturn]] void complain(
      const std::string& field,
      const std::string& expected,
      const std::string& got) const {
    throw Error(
        ErrorCode::kCorrupt,
        std::string(file_) + ": " + (field.empty() ? "" : field + ": ") +
            "expected " + expected + ", got " + got);
  }

  const std::string_view file_;
  SafetensorsIndex index_;
  int depth_ = 0; // of objects and lists
  bool seen_ = false;
  std::string field_; // of the outermost object
  std::string tensor_;
};

} // namespace

Result<SafetensorsIndex>
parse_safetensors_index(std::string_view json, std::string_view file) {
  try {
    Events events(file);
    read_json(json, file, events);
    return events.take();
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

} // namespace holdfast
