// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A model with its state and what is kept of it, ready to generate. Threads:
// the one that made it.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "holdfast/engine/generate.h"
#include "options.h"
#include "state_folder.h"

namespace holdfast::app {

struct RunningModel {
  LoadedModel loaded;
  std::string file_name; // of the model, without its folder
  std::unique_ptr<State> state = nullptr;
  std::optional<PrefixCache> cache = {};
  std::unique_ptr<const CompiledModel> compiled = nullptr;

  Generator generator();
};

/// What is known of earlier texts where no folder is kept.
enum class WithoutFolder { kNothing, kWhatIsInMemory };

/// Loads it; the time that took goes to `load_ms`. Throws UserError.
std::unique_ptr<RunningModel> start_model(
    ModelOptions& model,
    const StateFolder& folder,
    WithoutFolder without,
    double& load_ms);

/// Kernels, threads, and the read of each layer, on standard error.
void print_running(const RunningModel& running);

} // namespace holdfast::app
