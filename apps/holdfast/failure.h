// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A failure that nobody caught, as the user gets it. Any thread.

#pragma once

#include <exception>

namespace holdfast::app {

/// Says on standard error what was thrown, in a line; the exit code.
int told(const std::exception_ptr& failure) noexcept;

} // namespace holdfast::app
