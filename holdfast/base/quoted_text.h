// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Text that somebody else wrote, a file say, within a message of one line.
// Stateless; any thread.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast {

/// Control and non-ASCII bytes as \xNN, at most so many bytes of the text.
std::string escaped_text(std::string_view text, size_t most = 64);
/// The same in quotes.
std::string quoted_text(std::string_view text, size_t most = 64);

} // namespace holdfast
