// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Where an interrupted generation goes on: what it was asked for, and each
// row's tokens, log-probabilities and text so far. One encoding a value
// (docs/resume.md); whatever it is decoded from was encoded here.
//
// What a row knows besides (random numbers, counts of penalties, the bytes of
// an unfinished character, the window of its stop strings) follows from fields
// and tokens, so it is not stored and cannot contradict them. Values; any
// thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/status.h"

namespace holdfast {

struct ResumeRow {
  std::vector<int32_t> prompt;
  /// All that were chosen; the last one waits to be fed.
  std::vector<int32_t> ids;
  /// Of each id the chosen token and the most likely ones: [ids, logged].
  int64_t logged = 0;
  std::vector<int32_t> logged_ids;
  std::vector<double> logged_values;
  /// UTF-8 that was given out, and bytes held back that may become a character
  /// or a stop string.
  std::string text;
  std::string held;
  bool finished = false;

  bool operator==(const ResumeRow&) const = default;
};

struct ResumePoint {
  /// Whatever decides the rest of the text besides its tokens.
  struct Field {
    std::string name; // "top-k"
    std::string value;
    bool operator==(const Field&) const = default;
  };
  std::vector<Field> fields;
  std::vector<ResumeRow> rows;

  /// The value of a field, or nothing.
  const std::string* find(std::string_view name) const;
  bool operator==(const ResumePoint&) const = default;
};

/// Throws kInvalidArgument where a row's log-probabilities are not `logged` an
/// id, or a field or a row is beyond 2^32 - 1.
std::string encode(const ResumePoint& point);
/// kUnsupported for another version, kCorrupt for anything else that encode()
/// does not give.
Result<ResumePoint> decode_resume_point(std::string_view bytes);

} // namespace holdfast
