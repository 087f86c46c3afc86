// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What says whose weights state belongs to. One thread.

#pragma once

#include <string>

namespace holdfast::app {

/// SHA-256 of the file, hex; remembered in the state folder until the file
/// changes. Shows progress. Throws UserError.
std::string
model_digest(const std::string& folder, const std::string& model_path);

} // namespace holdfast::app
