// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/base/quoted_text.h"

namespace holdfast {

std::string escaped_text(std::string_view text, size_t most) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7e) {
      out += "\\x";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    } else {
      out += c;
    }
  }
  return text.size() > most ? out + "..." : out;
}

std::string quoted_text(std::string_view text, size_t most) {
  return '"' + escaped_text(text, most) + '"';
}

} // namespace holdfast
