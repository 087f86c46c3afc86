// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Time since this program began. Any thread.

#pragma once

namespace holdfast::app {

/// Milliseconds since the process was started, linking included: to 10 ms as
/// the system says, else since the program's own first instruction.
double process_milliseconds();

} // namespace holdfast::app
