// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/json_settings.h"

#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "holdfast/base/quoted_text.h"
#include "holdfast/formats/json_bytes.h"

namespace holdfast {

namespace {

constexpr size_t kLongestName = 1024; // of a setting, with those around it

constexpr size_t kMostDepth = 32;

/// A list as it is read. What is neither all words nor all numbers is nothing.
struct List {
  std::vector<std::string> words;
  std::vector<double> numbers;
  bool usable = true;

  Setting take() {
    if (!usable || (!words.empty() && !numbers.empty())) {
      return UnusableSetting();
    }
    return numbers.empty() ? Setting(std::move(words))
                           : Setting(std::move(numbers));
  }
};

class Events : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Events(std::string_view where) : where_(where) {}

  SettingValues take() {
    return std::move(values_);
  }

  bool key(string_t& key) override {
    if (in_list_ > 0) {
      return true;
    }
    if (prefix_.size() + key.size() > kLongestName) {
      // Every setting inside keeps the names of the objects around it.
      complain(
          "a name",
          "at most " + std::to_string(kLongestName) +
              " bytes, those around it included",
          "more");
    }
    name_ = prefix_ + key;
    return true;
  }
  bool string(string_t& value) override {
    if (in_list_ == 1) {
      list_.words.push_back(std::move(value));
      return true;
    }
    return put(std::move(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    // Beyond int64_t it is no size; as a number it may mean something.
    return value > uint64_t{INT64_MAX}
        ? number(static_cast<double>(value))
        : number_integer(static_cast<number_integer_t>(value));
  }
  bool number_integer(number_integer_t value) override {
    return in_list_ > 0 ? number(static_cast<double>(value)) : put(value);
  }
  bool number_float(number_float_t value, const string_t&) override {
    return number(value);
  }
  bool boolean(bool value) override {
    return put(value);
  }
  bool null() override {
    return put(std::monostate());
  }
  bool binary(binary_t&) override {
    return put(UnusableSetting());
  }
  bool start_object(size_t) override {
    require_depth();
    if (in_list_ > 0) {
      list_.usable = false;
      ++in_list_;
      return true;
    }
    if (!open_.empty()) {
      put(UnusableSetting());
    }
    open_.push_back(prefix_.size());
    prefix_ = open_.size() == 1 ? "" : name_ + ".";
    return true;
  }
  bool end_object() override {
    if (in_list_ > 0) {
      --in_list_;
      return true;
    }
    prefix_.resize(open_.back());
    open_.pop_back();
    return true;
  }
  bool start_array(size_t) override {
    if (in_list_ > 0) {
      list_.usable = false;
    }
    require_open();
    require_depth();
    ++in_list_;
    return true;
  }
  bool end_array() override {
    return --in_list_ == 0 ? put(std::exchange(list_, List()).take()) : true;
  }
  bool parse_error(
      size_t position,
      const std::string&,
      const nlohmann::detail::exception&) override {
    complain("", "JSON", "other bytes at " + std::to_string(position));
  }

 private:
  bool number(double value) {
    if (in_list_ == 1) {
      list_.numbers.push_back(value);
      return true;
    }
    return put(value);
  }
  bool put(Setting value) {
    if (in_list_ > 0) {
      list_.usable = false;
      return true;
    }
    require_open();
    if (!values_.emplace(name_, std::move(value)).second) {
      complain(name_, "it once", "it again");
    }
    return true;
  }
  void require_depth() const {
    if (open_.size() + in_list_ == kMostDepth) {
      complain(name_, "at most 32 objects and lists in one another", "more");
    }
  }
  void require_open() const {
    if (open_.empty()) {
      complain("", "a JSON object", "something else");
    }
  }
  [[noreturn]] void complain(
      const std::string& name,
      const std::string& expected,
      const std::string& got) const {
    throw Error(
        ErrorCode::kCorrupt,
        std::string(where_) + ": " +
            (name.empty() ? "" : escaped_text(name) + ": ") + "expected " +
            expected + ", got " + got);
  }

  const std::string_view where_;
  SettingValues values_;
  std::vector<size_t> open_; // lengths of the prefixes of the objects around
  std::string prefix_;
  std::string name_;
  size_t in_list_ = 0; // lists, and objects in them, that are open
  List list_;
};

} // namespace

SettingValues
parse_json_settings(std::string_view json, std::string_view where) {
  Events events(where);
  read_json(json, where, events);
  return events.take();
}

} // namespace holdfast
