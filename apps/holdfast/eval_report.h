// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What `holdfast eval` found, as JSON lines or as text. Values; any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/engine/divergence.h"
#include "options.h"

namespace holdfast::app {

/// A precision that is measured.
struct EvalChoice {
  std::string name; // as the user gave it, or the path of --kv-config
  StateChoice state;
  int64_t bytes_per_token = 0;
};

struct EvalReport {
  std::vector<EvalChoice> choices;
  std::optional<EvalChoice> reference; // none: nothing was compared
  QualityReport quality; // of `choices`, in order

  /// One object a line for each choice.
  std::string json() const;
  /// A line where nothing was compared, else a table.
  std::string table() const;
};

} // namespace holdfast::app
