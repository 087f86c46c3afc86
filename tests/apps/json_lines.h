// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What --json gives: an object a line. Any thread.

#pragma once

#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace holdfast::test {

/// Throws unless each line is JSON in valid UTF-8.
inline std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> objects;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    objects.push_back(nlohmann::json::parse(line));
  }
  return objects;
}

} // namespace holdfast::test
