// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What says whose weights state belongs to. One thread.

#pragma once

#include <string>

#include "holdfast/env/file_identity.h"

namespace holdfast::app {

/// SHA-256 of the file that was loaded, hex; remembered in the state folder
/// until the file changes. Shows progress. Throws UserError, also where another
/// file took its place since: its digest is not that of the weights.
std::string model_digest(
    const std::string& folder,
    const std::string& model_path,
    const FileIdentity& loaded);

} // namespace holdfast::app
