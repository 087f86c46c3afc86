// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What benchmarks of stored state need: processes that hold nothing of each
// other, and a folder that is gone afterwards. One thread.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include "interrupt.h"
#include "json.h"

namespace holdfast::app {

/// Thrown to end a benchmark that the user interrupted.
struct Interrupted {};

/// Throws Interrupted where a signal came.
void stop_if(const InterruptFlag& interrupt);

/// What `work` answers in a process of its own: a copy of this one, which must
/// have one thread, and have begun nothing with the model. Throws what the work
/// throws, an Error with its text, or Interrupted; a signal that comes here is
/// passed on.
Json in_process(
    const InterruptFlag& interrupt,
    const std::function<Json()>& work);

/// The option that says in which folder a BenchFolder is made.
void add_bench_folder(CLI::App& command, std::string& place);

/// A new folder in `place`, or where temporary files are, removed with all in
/// it. Throws UserError where it cannot be made.
class BenchFolder {
 public:
  explicit BenchFolder(const std::string& place);
  ~BenchFolder();
  BenchFolder(const BenchFolder&) = delete;
  BenchFolder& operator=(const BenchFolder&) = delete;

  const std::string& path() const {
    return path_;
  }

 private:
  std::string path_;
};

} // namespace holdfast::app
