// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// JSON objects as lines: fields in the order given, always valid UTF-8. Any
// thread.

#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace holdfast::app {

using Json = nlohmann::ordered_json;

/// One line with its end; bytes that are not UTF-8 become U+FFFD.
inline std::string json_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace holdfast::app
