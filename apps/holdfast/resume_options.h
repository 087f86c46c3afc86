// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// `--id KEY`: a call that goes on where an interrupted one of that key was.
// One thread.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "holdfast/engine/resumable_run.h"
#include "state_folder.h"

namespace holdfast::app {

/// How often a run that can be resumed is kept.
struct CheckpointOptions {
  int64_t tokens = 64;
  double seconds = 2;

  void add_to(CLI::App& command);
  /// Throws UserError.
  void validate() const;
  ResumableOptions with(std::string key) const;
};

class ResumeOptions {
 public:
  void add_to(CLI::App& command);
  /// Throws UserError. reference: --reference, whose bits depend on chunks.
  void validate(const StateFolder& folder, bool reference) const;

  /// Null without a key. Throws UserError where another process runs it; says
  /// on standard error where what was left of it is damaged.
  std::unique_ptr<ResumableRun> begin(PrefixCache* cache) const;
  /// whole: the texts are finished, and given out. Else they are kept, and that
  /// is said. Waits for the disk, for kFlushPatience, and says what was not
  /// done.
  void end(ResumableRun& run, bool whole) const;

 private:
  std::optional<std::string> key_;
  CheckpointOptions checkpoints_;
};

} // namespace holdfast::app
