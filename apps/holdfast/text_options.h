// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// How texts are generated: the options that `generate` and `chat` share.
// Values; one thread.

#pragma once

#include <cstdint>
#include <optional>

#include <CLI/CLI.hpp>

#include "holdfast/engine/generation.h"

namespace holdfast::app {

struct TextOptions {
  GenerateOptions generate;
  std::optional<int64_t> context; // none: what the model was made for
  std::optional<uint64_t> seed;
  bool drawn_seed = false; // nobody said which

  void add_to(CLI::App& command);
  /// Throws UserError; fills in what follows from the others.
  void complete(int64_t chunk);
  void set_seed(uint64_t value);
};

} // namespace holdfast::app
