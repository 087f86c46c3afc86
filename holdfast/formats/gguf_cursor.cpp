// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/gguf_cursor.h"

namespace holdfast {

namespace {

std::string bytes_text(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

} // namespace

std::string gguf_complaint(
    std::string_view file,
    std::string_view field,
    int64_t offset,
    std::string_view expected,
    std::string_view got) {
  std::string out(file);
  out.append(": ").append(field).append(" at offset ");
  out.append(std::to_string(offset)).append(": expected ").append(expected);
  return out.append(", got ").append(got);
}

std::string_view
GgufCursor::read_string(std::string_view field, std::string_view suffix) {
  const auto length = read<uint64_t>(field, suffix);
  require(length, field, suffix);
  const std::string_view text(
      reinterpret_cast<const char*>(here()), static_cast<size_t>(length));
  offset_ += static_cast<int64_t>(length);
  return text;
}

void GgufCursor::too_short(
    uint64_t bytes,
    std::string_view field,
    std::string_view suffix) const {
  corrupt(
      std::string(field).append(suffix),
      offset_,
      bytes_text(bytes),
      bytes_text(left()) + " to the end of the file");
}

void GgufCursor::fail(
    ErrorCode code,
    std::string_view field,
    int64_t offset,
    std::string_view expected,
    std::string_view got) const {
  throw Error(code, gguf_complaint(file_, field, offset, expected, got));
}

} // namespace holdfast
