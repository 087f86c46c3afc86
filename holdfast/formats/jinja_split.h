// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Methods of texts that cut them: split, rsplit, splitlines, partition,
// rpartition. Any thread.

#pragma once

#include <string>

#include "holdfast/formats/jinja_callable.h"

namespace holdfast::jinja {

/// Throws kUnsupported for any other method.
Value split_method(
    const std::string& self,
    const std::string& name,
    const Arguments& arguments,
    Allowance& allowance);

} // namespace holdfast::jinja
