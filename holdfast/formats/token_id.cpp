// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/token_id.h"

#include <algorithm>

namespace holdfast {
namespace {

int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') {
    return digit - '0';
  }
  if (digit >= 'A' && digit <= 'F') {
    return digit - 'A' + 10;
  }
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

} // namespace

int byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') {
    return -1;
  }
  const int high = hex_digit(piece[3]);
  const int low = hex_digit(piece[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

void append_replaced(
    std::string_view text,
    std::string_view from,
    std::string_view to,
    std::string& result) {
  for (size_t place = 0; place < text.size();) {
    const size_t found = std::min(text.find(from, place), text.size());
    result.append(text.substr(place, found - place));
    if (found < text.size()) {
      result.append(to);
    }
    place = found + from.size();
  }
}

} // namespace holdfast
