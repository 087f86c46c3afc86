// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/byte_alphabet.h"

#include <array>

namespace holdfast {
namespace {

constexpr bool prints(int byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) ||
      byte >= 174;
}

constexpr int kCharacters = 256 + 68; // 68 bytes do not print

struct Alphabet {
  std::array<uint16_t, 256> character{}; // of a byte
  std::array<int16_t, kCharacters> byte{}; // of a character; -1: none

  constexpr Alphabet() {
    byte.fill(-1);
    int next = 256;
    for (int i = 0; i < 256; ++i) {
      const int c = prints(i) ? i : next++;
      character[static_cast<size_t>(i)] = static_cast<uint16_t>(c);
      byte[static_cast<size_t>(c)] = static_cast<int16_t>(i);
    }
  }
};
constexpr Alphabet kAlphabet;

} // namespace

void append_in_alphabet(std::string_view bytes, std::string& result) {
  for (const char byte : bytes) {
    const unsigned c = kAlphabet.character[static_cast<uint8_t>(byte)];
    if (c < 0x80) {
      result.push_back(static_cast<char>(c));
    } else {
      result.push_back(static_cast<char>(0xC0 | (c >> 6)));
      result.push_back(static_cast<char>(0x80 | (c & 0x3F)));
    }
  }
}

bool append_out_of_alphabet(std::string_view piece, std::string& result) {
  const size_t before = result.size();
  for (size_t i = 0; i < piece.size(); ++i) {
    unsigned c = static_cast<uint8_t>(piece[i]);
    if (c >= 0x80) {
      const unsigned next =
          i + 1 < piece.size() ? static_cast<uint8_t>(piece[i + 1]) : 0;
      // Two bytes at most: the alphabet ends below U+0800.
      c = (c & 0xE0) == 0xC0 && (next & 0xC0) == 0x80
          ? (c & 0x1F) << 6 | (next & 0x3F)
          : kCharacters;
      ++i;
    }
    if (c >= kCharacters || kAlphabet.byte[c] < 0) {
      result.resize(before);
      return false;
    }
    result.push_back(static_cast<char>(kAlphabet.byte[c]));
  }
  return true;
}

} // namespace holdfast
