// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// While a file is read through a mapping, another process may cut it short: the
// system then raises SIGBUS. A FileGuard makes that one line that names the
// file, and exit code 1. The library installs no handlers: a program that links
// it decides for itself.
// Threads: the file may be read by any; one guard at a time.

#pragma once

#include <string>

#include <csignal>

namespace holdfast::app {

class FileGuard {
 public:
  explicit FileGuard(const std::string& path);
  /// Back to what SIGBUS did before.
  ~FileGuard();
  FileGuard(const FileGuard&) = delete;
  FileGuard& operator=(const FileGuard&) = delete;

 private:
  const std::string line_; // ready to be written by the handler
  struct sigaction before_ = {};
};

} // namespace holdfast::app
