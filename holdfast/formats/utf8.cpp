// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/utf8.h"

namespace holdfast {
namespace {

// What a lead byte promises: the character's length and the range of its second
// byte, which excludes overlong forms, surrogates and points above U+10FFFF.
struct Lead {
  int length = 0; // 0: no lead byte
  uint8_t low = 0x80;
  uint8_t high = 0xBF;
};

Lead lead_of(uint8_t byte) {
  if (byte < 0x80) {
    return {1};
  }
  if (byte < 0xC2 || byte > 0xF4) {
    return {0};
  }
  if (byte < 0xE0) {
    return {2};
  }
  switch (byte) {
    case 0xE0:
      return {3, 0xA0, 0xBF};
    case 0xED:
      return {3, 0x80, 0x9F};
    case 0xF0:
      return {4, 0x90, 0xBF};
    case 0xF4:
      return {4, 0x80, 0x8F};
    default:
      return {byte < 0xF0 ? 3 : 4};
  }
}

} // namespace

Utf8Step utf8_step(std::string_view bytes) {
  const Lead lead = lead_of(static_cast<uint8_t>(bytes[0]));
  if (lead.length == 0) {
    return {Utf8State::kInvalid, 1};
  }
  uint8_t low = lead.low;
  uint8_t high = lead.high;
  for (int i = 1; i < lead.length; ++i) {
    if (static_cast<size_t>(i) == bytes.size()) {
      return {Utf8State::kIncomplete, i};
    }
    const auto byte = static_cast<uint8_t>(bytes[static_cast<size_t>(i)]);
    if (byte < low || byte > high) {
      return {Utf8State::kInvalid, i};
    }
    low = 0x80;
    high = 0xBF;
  }
  return {Utf8State::kValid, lead.length};
}

int utf8_length_or_one(std::string_view bytes) {
  if (static_cast<uint8_t>(bytes[0]) < 0x80) {
    return 1;
  }
  const Utf8Step step = utf8_step(bytes);
  return step.state == Utf8State::kValid ? step.length : 1;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Utf8Step step = utf8_step(text);
    if (step.state != Utf8State::kValid) {
      return false;
    }
    text.remove_prefix(static_cast<size_t>(step.length));
  }
  return true;
}

} // namespace holdfast
