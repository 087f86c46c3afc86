// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What says whose weights state belongs to. One thread.

#pragma once

#include <string>
#include <vector>

#include "holdfast/engine/load.h"

namespace holdfast::app {

/// SHA-256 of the file that was loaded, hex; of several, of the lines "DIGEST
/// NAME" in order of names. Those of files are remembered in the state folder
/// until the files change. Shows progress. Throws UserError, also where another
/// file took its place since: its digest is not that of the weights.
std::string
model_digest(const std::string& folder, const std::vector<ModelPart>& parts);

} // namespace holdfast::app
