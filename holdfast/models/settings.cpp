// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/settings.h"

#include <algorithm>
#include <cmath>

#include "holdfast/base/quoted_text.h"

namespace holdfast {

namespace {

constexpr int64_t kMostSize = (int64_t{1} << 31) - 1;
constexpr size_t kMostShown = 200; // bytes of a name, and of a value

std::string shown(const Setting& setting) {
  struct Show {
    std::string operator()(std::monostate) const {
      return "null";
    }
    std::string operator()(bool value) const {
      return value ? "true" : "false";
    }
    std::string operator()(int64_t value) const {
      return std::to_string(value);
    }
    std::string operator()(double value) const {
      return std::to_string(value);
    }
    std::string operator()(const std::string& value) const {
      return '"' + value.substr(0, 40) + '"';
    }
    std::string operator()(const std::vector<std::string>&) const {
      return "a list of words";
    }
    std::string operator()(const std::vector<double>&) const {
      return "a list of numbers";
    }
    std::string operator()(UnusableSetting) const {
      return "an object, or a list of other than words or numbers";
    }
  };
  return std::visit(Show{}, setting);
}

} // namespace

const Setting* Settings::find(std::string_view name) const {
  const auto found = all_.find(name);
  return found == all_.end() ||
          std::holds_alternative<std::monostate>(found->second)
      ? nullptr
      : &found->second;
}

bool Settings::has(std::string_view name) const {
  return find(name) != nullptr;
}

bool Settings::is_null(std::string_view name) const {
  const auto found = all_.find(name);
  return found != all_.end() &&
      std::holds_alternative<std::monostate>(found->second);
}

bool Settings::is_flag(std::string_view name) const {
  const Setting* setting = find(name);
  return setting != nullptr && std::holds_alternative<bool>(*setting);
}

bool Settings::is_text(std::string_view name) const {
  const Setting* setting = find(name);
  return setting != nullptr && std::holds_alternative<std::string>(*setting);
}

bool Settings::is_nothing(std::string_view name) const {
  const Setting* setting = find(name);
  if (setting == nullptr) {
    return true;
  }
  const auto* flag = std::get_if<bool>(setting);
  const auto* words = std::get_if<std::vector<std::string>>(setting);
  return (flag != nullptr && !*flag) || (words != nullptr && words->empty());
}

bool Settings::is_object(std::string_view name) const {
  const Setting* setting = find(name);
  return setting != nullptr &&
      std::holds_alternative<UnusableSetting>(*setting);
}

std::vector<std::string> Settings::names(std::string_view prefix) const {
  std::vector<std::string> result;
  for (auto at = all_.lower_bound(prefix);
       at != all_.end() && at->first.starts_with(prefix);
       ++at) {
    result.push_back(at->first);
  }
  return result;
}

Error Settings::refusal(
    std::string_view name,
    std::string_view expected,
    std::string_view got,
    ErrorCode code) const {
  std::string text = "[settings] " + where_ + ": ";
  text.append(escaped_text(name, kMostShown)).append(": expected ");
  text.append(expected).append(", got ");
  return {code, text.append(escaped_text(got, kMostShown))};
}

void Settings::miss(std::string_view name, std::string_view expected) const {
  const auto found = all_.find(name);
  throw refusal(
      name,
      expected,
      found == all_.end() ? "no such setting" : shown(found->second));
}

int64_t Settings::size(std::string_view name) const {
  const Setting* setting = find(name);
  const auto* value = setting ? std::get_if<int64_t>(setting) : nullptr;
  if (value == nullptr || *value < 0 || *value > kMostSize) {
    miss(name, "an integer from 0 to 2147483647");
  }
  return *value;
}

int64_t Settings::size(std::string_view name, int64_t otherwise) const {
  return has(name) ? size(name) : otherwise;
}

double Settings::number(std::string_view name) const {
  if (const Setting* setting = find(name)) {
    if (const auto* integer = std::get_if<int64_t>(setting)) {
      return static_cast<double>(*integer);
    }
    const auto* value = std::get_if<double>(setting);
    if (value != nullptr && std::isfinite(*value)) {
      return *value;
    }
  }
  miss(name, "a number");
}

double Settings::number(std::string_view name, double otherwise) const {
  return has(name) ? number(name) : otherwise;
}

bool Settings::flag(std::string_view name, bool otherwise) const {
  const Setting* setting = find(name);
  if (setting == nullptr) {
    return otherwise;
  }
  if (const auto* value = std::get_if<bool>(setting)) {
    return *value;
  }
  miss(name, "true or false");
}

std::string Settings::text(std::string_view name) const {
  const Setting* setting = find(name);
  if (const auto* value =
          setting ? std::get_if<std::string>(setting) : nullptr) {
    return *value;
  }
  miss(name, "a word");
}

std::string
Settings::text(std::string_view name, std::string_view otherwise) const {
  return has(name) ? text(name) : std::string(otherwise);
}

std::vector<std::string> Settings::texts(std::string_view name) const {
  const Setting* setting = find(name);
  if (const auto* value =
          setting ? std::get_if<std::vector<std::string>>(setting) : nullptr) {
    return *value;
  }
  miss(name, "a list of words");
}

std::vector<double> Settings::numbers(std::string_view name) const {
  if (const Setting* setting = find(name)) {
    const auto* words = std::get_if<std::vector<std::string>>(setting);
    if (words != nullptr && words->empty()) {
      return {};
    }
    const auto* values = std::get_if<std::vector<double>>(setting);
    if (values != nullptr && std::ranges::all_of(*values, [](double value) {
          return std::isfinite(value);
        })) {
      return *values;
    }
  }
  miss(name, "a list of numbers");
}

} // namespace holdfast
