// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "state_print.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "holdfast/formats/utf8.h"

namespace holdfast::app {

namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

/// Characters, as a terminal that gives each one place would show them.
size_t width(std::string_view text) {
  size_t count = 0;
  for (; !text.empty(); ++count) {
    text.remove_prefix(static_cast<size_t>(utf8_length_or_one(text)));
  }
  return count;
}

std::string formatted(const char* format, const std::tm& time) {
  char text[64];
  return {text, std::strftime(text, sizeof(text), format, &time)};
}

std::time_t seconds(int64_t wall_ns) {
  return static_cast<std::time_t>(wall_ns / kNsPerSecond);
}

} // namespace

std::string shown_bytes(Bytes bytes) {
  constexpr const char* kUnits[] = {"kB", "MB", "GB", "TB"};
  if (bytes < Bytes(1000)) {
    return std::to_string(bytes.get()) + " B";
  }
  auto value = static_cast<double>(bytes.get()) / 1e3;
  size_t unit = 0;
  while (value >= 999.95 && unit + 1 < std::size(kUnits)) {
    value /= 1e3;
    ++unit;
  }
  char text[64];
  std::snprintf(text, sizeof(text), "%.1f %s", value, kUnits[unit]);
  return text;
}

std::string shown_time(int64_t wall_ns) {
  const std::time_t time = seconds(wall_ns);
  std::tm parts{};
  return localtime_r(&time, &parts) ? formatted("%Y-%m-%d %H:%M", parts) : "?";
}

std::string json_time(int64_t wall_ns) {
  const std::time_t time = seconds(wall_ns);
  std::tm parts{};
  return gmtime_r(&time, &parts) ? formatted("%Y-%m-%dT%H:%M:%SZ", parts) : "?";
}

std::string Columns::text(const std::vector<size_t>& right) const {
  std::vector<size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - width(row[i]), ' ');
      const bool to_the_right = std::ranges::find(right, i) != right.end();
      line += i > 0 ? "  " : "";
      line += to_the_right ? blanks + row[i] : row[i] + blanks;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

} // namespace holdfast::app
