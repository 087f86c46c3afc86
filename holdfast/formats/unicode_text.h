// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What Unicode says of text: normal forms, small letters, white space (utf8proc
// has the tables). Any thread.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast {

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };

/// Appends `text`, which is UTF-8, in the form.
void append_normalized(
    std::string_view text,
    NormalForm form,
    std::string& result);

/// Appends `text`, which is UTF-8, with each character's small form, whatever
/// stands around it.
void append_lower(std::string_view text, std::string& result);

/// The text without the White_Space at its ends. Bytes that are not UTF-8 are
/// none.
std::string_view without_left_space(std::string_view text);
std::string_view without_right_space(std::string_view text);

/// Where the last character of a text begins, which is not empty; of bytes that
/// are not UTF-8, the last.
size_t last_character(std::string_view text);

} // namespace holdfast
