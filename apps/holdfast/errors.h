// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// How a command fails, and with which exit code. Any thread.

#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "holdfast/base/status.h"

namespace holdfast::app {

inline constexpr int kOk = 0;
inline constexpr int kFailed = 1; // a failure
inline constexpr int kMisused = 2; // a user's mistake

/// A user's mistake, in one line.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Runs `check`; an invalid argument, or what this machine cannot do, is then
/// the user's mistake.
template <class F>
auto users(F check) {
  try {
    return check();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInvalidArgument ||
        error.code() == ErrorCode::kUnsupported) {
      throw UserError(error.what());
    }
    throw;
  }
}

/// Runs `compute` on the weights of the file `path`; results that are no
/// numbers are that file's, so the failure names it.
template <class F>
auto blaming(const std::string& path, F compute) {
  try {
    return compute();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) {
      throw Error(error.code(), path + ": " + error.what());
    }
    throw;
  }
}

} // namespace holdfast::app
