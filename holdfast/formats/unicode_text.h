// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What Unicode says of text: normal forms, small letters, white space (utf8proc
// has the tables). Texts are valid UTF-8. Any thread.

#pragma once

#include <string>
#include <string_view>

namespace holdfast {

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };

/// Appends `text` in the form.
void append_normalized(
    std::string_view text,
    NormalForm form,
    std::string& result);

/// Appends `text` with each character's small form, whatever stands around it.
void append_lower(std::string_view text, std::string& result);

/// The text without the White_Space at its ends.
std::string_view without_left_space(std::string_view text);
std::string_view without_right_space(std::string_view text);

} // namespace holdfast
