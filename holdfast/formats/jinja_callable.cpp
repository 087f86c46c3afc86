// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/jinja_callable.h"

#include <algorithm>

namespace holdfast::jinja {

namespace {

[[noreturn]] void refuse_call(const std::string& text) {
  throw Error(ErrorCode::kInvalidArgument, text);
}

} // namespace

std::vector<const Value*> bind(
    const Arguments& arguments,
    const std::string& who,
    std::initializer_list<const char*> names,
    size_t required) {
  if (arguments.positional.size() > names.size()) {
    refuse_call(
        "expected at most " + std::to_string(names.size()) + " arguments for " +
        who + ", got " + std::to_string(arguments.positional.size()));
  }
  std::vector<const Value*> bound(names.size(), nullptr);
  for (size_t i = 0; i < arguments.positional.size(); ++i) {
    bound[i] = &arguments.positional[i];
  }
  for (const auto& [name, value] : arguments.named) {
    const auto at = std::ranges::find(names, name);
    const auto index = static_cast<size_t>(at - names.begin());
    if (at == names.end() || bound[index] != nullptr) {
      refuse_call(
          "expected the arguments of " + who + " once each, got '" + name +
          "'");
    }
    bound[index] = &value;
  }
  for (size_t i = 0; i < required; ++i) {
    if (bound[i] == nullptr) {
      refuse_call(
          "expected the argument '" + std::string(*(names.begin() + i)) +
          "' of " + who + ", got none");
    }
  }
  return bound;
}

} // namespace holdfast::jinja
