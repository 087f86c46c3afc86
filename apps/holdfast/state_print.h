// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Figures for a person and for JSON. Any thread.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/base/strong.h"

namespace holdfast::app {

/// "812 B", "1.2 MB": powers of ten.
std::string shown_bytes(Bytes bytes);
/// "2026-11-30 12:04", local time.
std::string shown_time(int64_t wall_ns);
/// "2026-11-30T12:04:05Z".
std::string json_time(int64_t wall_ns);

/// Rows of cells as columns, two blanks apart; no blanks at a line's end.
class Columns {
 public:
  void add(std::vector<std::string> row) {
    rows_.push_back(std::move(row));
  }
  /// right: columns that are aligned there.
  std::string text(const std::vector<size_t>& right = {}) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

} // namespace holdfast::app
