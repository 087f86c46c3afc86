// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Renders a template over a few variables. One thread.

#pragma once

#include <ctime>
#include <string>
#include <utility>

#include "holdfast/formats/chat_template.h"

namespace holdfast::test {

inline jinja::Variables few_variables() {
  using jinja::Value;
  return {
      {"i", 7},
      {"x", 2.5},
      {"s", "abc"},
      {"u", "é日😀"},
      {"none_given", Value()},
      {"l", Value::list({3, 1, "a", Value()})},
      {"d", Value::dict({{"a", 1}, {"items", Value::list({1})}})}};
}

inline Result<std::string> rendered(
    const std::string& source,
    const jinja::Limits& limits = {},
    jinja::Variables variables = few_variables()) {
  const Result<ChatTemplate> parsed = ChatTemplate::parse(source);
  if (!parsed.ok()) {
    return parsed.status();
  }
  std::tm now = {};
  now.tm_year = 126;
  now.tm_mon = 1;
  now.tm_mday = 3;
  return parsed.value().render(variables, now, limits);
}

/// The text, or the error's.
inline std::string text_of(const std::string& source) {
  const Result<std::string> result = rendered(source);
  return result.ok() ? result.value() : "error: " + result.status().text();
}

inline ErrorCode
code_of_template(const std::string& source, const jinja::Limits& limits = {}) {
  return rendered(source, limits).status().code();
}

} // namespace holdfast::test
