// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/base/field_reader.h"

#include <algorithm>

namespace holdfast {

void FieldReader::refuse(
    const FieldPlace& place,
    const std::string& expected,
    const std::string& got,
    ErrorCode code) const {
  throw Error(
      code,
      std::string(where_) + place.field + " at offset " +
          std::to_string(place.offset) + ": expected " + expected + ", got " +
          got);
}

void FieldReader::require_left(uint64_t count, size_t each, const char* field)
    const {
  // Divided, not multiplied: a count may be anything.
  if (count > left() / each) {
    refuse(
        place(field),
        std::to_string(count) + " times " + std::to_string(each) + " bytes",
        std::to_string(left()) + " to the end");
  }
}

void FieldReader::zero(uint64_t count, const char* field) {
  const FieldPlace here = place(field);
  const auto bytes = take(count, field);
  const auto other =
      std::ranges::find_if(bytes, [](std::byte b) { return b != std::byte{}; });
  if (other != bytes.end()) {
    refuse(
        {field, here.offset + (other - bytes.begin())},
        "0",
        std::to_string(std::to_integer<int>(*other)));
  }
}

} // namespace holdfast
