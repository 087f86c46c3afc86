// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What became of a text, as every command says it (docs/cli.md). Any thread.

#pragma once

#include <string>

#include "holdfast/engine/generation.h"
#include "json.h"

namespace holdfast::app {

/// Adds the fields that all commands have.
void add_generation(Json& json, const Generation& result);

/// "12 reused, 8 of them from disk", "none reused".
std::string reused_text(int64_t reused, int64_t from_disk);

} // namespace holdfast::app
