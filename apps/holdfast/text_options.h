// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// How texts are generated: the options that `generate` and `chat` share.
// Values; one thread.

#pragma once

#include <cstdint>
#include <optional>

#include <CLI/CLI.hpp>

#include "holdfast/engine/generation.h"
#include "holdfast/engine/sampling_defaults.h"

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
  /// Takes the model's own for what the command line does not say.
  void take_defaults(const SamplingDefaults& defaults);

 private:
  struct {
    const CLI::Option* temperature = nullptr;
    const CLI::Option* top_k = nullptr;
    const CLI::Option* top_p = nullptr;
    const CLI::Option* min_p = nullptr;
    const CLI::Option* repeat_penalty = nullptr;
  } said_; // owned by the command that they were added to

  void add_sampling(CLI::App& command);
};

} // namespace holdfast::app
