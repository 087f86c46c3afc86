// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "file_guard.h"

#include <atomic>

#include <unistd.h>

#include "console.h"
#include "errors.h"

namespace holdfast::app {

namespace {

std::atomic<const std::string*> line{nullptr};
static_assert(std::atomic<const std::string*>::is_always_lock_free);

/// Only what a handler may do: no allocation, no stdio.
extern "C" void on_bus_error(int) {
  if (const std::string* text = line.load()) {
    [[maybe_unused]] const ssize_t written =
        write(STDERR_FILENO, text->data(), text->size());
  }
  _exit(kFailed);
}

} // namespace

FileGuard::FileGuard(const std::string& path)
    : line_(
          "holdfast: " + printable(path) +
          ": expected a file that stays as it is while it is read, got a part "
          "that is gone (cut short meanwhile?)\n") {
  line = &line_;
  struct sigaction action = {};
  action.sa_handler = on_bus_error;
  sigaction(SIGBUS, &action, &before_);
}

FileGuard::~FileGuard() {
  sigaction(SIGBUS, &before_, nullptr);
  line = nullptr;
}

} // namespace holdfast::app
