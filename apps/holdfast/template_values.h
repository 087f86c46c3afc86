// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// JSON as the variables of a chat template. One thread.

#pragma once

#include <string>

#include "holdfast/formats/jinja_render.h"

namespace holdfast::app {

/// The members of a JSON object, in their order. Throws UserError, with
/// `where`, for anything else, nesting that templates do not take, and numbers
/// beyond 64 bits.
jinja::Variables
template_variables(const std::string& json, const std::string& where);

} // namespace holdfast::app
