// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// UTF-8 text by characters, as python's str sees it. All texts are valid UTF-8.
// Any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::jinja {

/// False where the code is no character (a surrogate, above U+10FFFF).
bool append_utf8(uint32_t code, std::string& to);

/// The character at the start of `text`, which is not empty.
uint32_t first_code(std::string_view text, size_t& length);

/// What str.isspace() says of a character.
bool is_space(uint32_t code);
/// What str.isprintable() says of one, by Unicode 14.
bool is_printable(uint32_t code);

/// Bytes of white space at the start, and at the end.
size_t leading_spaces(std::string_view text);
size_t trailing_spaces(std::string_view text);

bool is_ascii(std::string_view text);
size_t count_characters(std::string_view text);
/// Each character.
std::vector<std::string_view> characters(std::string_view text);
/// Where character `index` begins; the size where there are no more.
size_t byte_of(std::string_view text, size_t index);

/// str.strip() of white space, or of the characters in `set`.
enum class Side { kBoth, kLeft, kRight };
std::string_view strip(std::string_view text, Side side);
std::string_view strip(std::string_view text, Side side, std::string_view set);

} // namespace holdfast::jinja
