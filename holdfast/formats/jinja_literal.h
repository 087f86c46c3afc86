// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Literals of an expression: how long they are and what they mean. Any thread.

#pragma once

#include <string>
#include <string_view>

#include "holdfast/formats/jinja_lexer.h"

namespace holdfast::jinja {

/// The number at the start of `text`, which is a digit; its length goes to
/// `length`.
Token number_literal(std::string_view text, int line, size_t& length);

/// The quoted text at the start of `text`, which is a quote.
Token text_literal(std::string_view text, int line, size_t& length);

} // namespace holdfast::jinja
