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

class ResumeOptions {
 public:
  void add_to(CLI::App& command);
  /// Throws UserError. reference: --reference, whose bits depend on chunks.
  void validate(const StateFolder& folder, bool reference) const;

  /// Null without a key. Throws UserError where another process runs it; says
  /// on standard error where what was left of it is damaged.
  std::unique_ptr<ResumableRun> begin(PrefixCache* cache) const;
  /// whole: the texts are finished, and given out. Else they are kept, and that
  /// is said. Waits at most so many seconds for the disk and says what was not
  /// done.
  void end(ResumableRun& run, bool whole, double seconds) const;

 private:
  std::optional<std::string> key_;
  int64_t tokens_ = 64;
  double seconds_ = 2;
};

} // namespace holdfast::app
