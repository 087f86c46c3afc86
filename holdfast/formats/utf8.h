// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One step over UTF-8 as Unicode defines it: no overlong forms, no surrogates,
// nothing above U+10FFFF. What is invalid is cut into maximal subparts (Unicode
// 15, section 3.9, table 3-8), each of which a display shows as one U+FFFD.
// Any thread.

#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast {

enum class Utf8State {
  kValid, // a whole character
  kIncomplete, // the bytes end inside a character that may still become valid
  kInvalid, // no continuation makes these bytes valid
};

struct Utf8Step {
  Utf8State state = Utf8State::kValid;
  int length = 0; // bytes of the character or of the maximal subpart: 1 to 4
};

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

/// The step at the start of `bytes`, which must not be empty.
Utf8Step utf8_step(std::string_view bytes);

/// Whether all of `text` is valid.
bool is_utf8(std::string_view text);

/// Bytes of the character at the start of `bytes`; 1 where it is not valid, so
/// that invalid text is walked byte by byte.
int utf8_length_or_one(std::string_view bytes);

} // namespace holdfast
