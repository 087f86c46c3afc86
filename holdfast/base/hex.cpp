// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/base/hex.h"

namespace holdfast {

namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

} // namespace

std::string to_hex(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte b : bytes) {
    text += kDigits[std::to_integer<size_t>(b >> 4)];
    text += kDigits[std::to_integer<size_t>(b & std::byte{15})];
  }
  return text;
}

bool from_hex(std::string_view text, std::span<std::byte> into) {
  if (text.size() != 2 * into.size()) {
    return false;
  }
  for (size_t i = 0; i < into.size(); ++i) {
    const size_t high = kDigits.find(text[2 * i]);
    const size_t low = kDigits.find(text[2 * i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) {
      return false;
    }
    into[i] = static_cast<std::byte>(16 * high + low);
  }
  return true;
}

} // namespace holdfast
