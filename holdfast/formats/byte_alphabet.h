// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The alphabet in which byte-level vocabularies write bytes: 256 characters
// that print (GPT-2's encoder). What prints in Latin-1 stands for itself; the
// others, in order, are U+0100 on: a space is U+0120. Any thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast {

/// Appends the characters of `bytes`.
void append_in_alphabet(std::string_view bytes, std::string& result);

/// Appends the bytes that `piece` stands for; nothing and false where one of
/// its characters is not of the alphabet.
bool append_out_of_alphabet(std::string_view piece, std::string& result);

} // namespace holdfast
