// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A model's own settings by name, as a family reads them: numbers, words and
// lists, without the file format they came from. What lies in an object of the
// file has its name in front: "rope_parameters.rope_theta". A value; any
// thread.
//
// Errors: a setting that is absent, of another type or out of range throws
// Error (kCorrupt) with a line that names file, setting, and what was expected.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "holdfast/base/status.h"

namespace holdfast {

/// There, but of a type that no family reads: an object, or a list that holds
/// other than words alone or numbers alone.
struct UnusableSetting {};

using Setting = std::variant<
    std::monostate, // null: as if it were absent
    bool,
    int64_t,
    double,
    std::string,
    std::vector<std::string>,
    std::vector<double>,
    UnusableSetting>;

class Settings {
 public:
  /// `where` names the file in errors.
  Settings(std::string where, std::map<std::string, Setting, std::less<>> all)
      : where_(std::move(where)), all_(std::move(all)) {}

  /// There and not null.
  bool has(std::string_view name) const;
  bool is_null(std::string_view name) const;
  bool is_flag(std::string_view name) const;
  bool is_text(std::string_view name) const;
  /// Absent, null, false, or a list without items.
  bool is_nothing(std::string_view name) const;
  /// An object, or a list that nobody reads.
  bool is_object(std::string_view name) const;
  /// All that begin so, in order.
  std::vector<std::string> names(std::string_view prefix) const;

  /// An integer in [0, 2^31).
  int64_t size(std::string_view name) const;
  int64_t size(std::string_view name, int64_t otherwise) const;
  /// A finite number; integers are numbers.
  double number(std::string_view name) const;
  double number(std::string_view name, double otherwise) const;
  bool flag(std::string_view name, bool otherwise) const;
  std::string text(std::string_view name) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  std::vector<std::string> texts(std::string_view name) const;
  /// Finite numbers; none for a list without items.
  std::vector<double> numbers(std::string_view name) const;

  /// "[settings] FILE: NAME: expected ..., got ..." for a family's refusals.
  Error refusal(
      std::string_view name,
      std::string_view expected,
      std::string_view got,
      ErrorCode code = ErrorCode::kCorrupt) const;

 private:
  const Setting* find(std::string_view name) const;
  [[noreturn]] void
  miss(std::string_view name, std::string_view expected) const;

  std::string where_;
  std::map<std::string, Setting, std::less<>> all_;
};

} // namespace holdfast
