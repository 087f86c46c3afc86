// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/gguf_array.h"

#include "holdfast/base/check.h"

namespace holdfast {

namespace {

struct ValueInfo {
  const char* name;
  int bytes;
};

constexpr ValueInfo kValues[] = {
    {"U8", 1},
    {"I8", 1},
    {"U16", 2},
    {"I16", 2},
    {"U32", 4},
    {"I32", 4},
    {"F32", 4},
    {"BOOL", 1},
    {"STRING", 0},
    {"ARRAY", 0},
    {"U64", 8},
    {"I64", 8},
    {"F64", 8}};

} // namespace

const char* gguf_value_name(uint32_t id) {
  return id < std::size(kValues) ? kValues[id].name : nullptr;
}

int gguf_value_bytes(uint32_t id) {
  return id < std::size(kValues) ? kValues[id].bytes : 0;
}

int64_t GgufIntegers::operator[](int64_t index) const {
  const int bytes = gguf_value_bytes(static_cast<uint32_t>(element_));
  const std::byte* at = data_ + index * bytes;
  switch (element_) {
    case GgufValue::kBool:
    case GgufValue::kU8:
      return load_unaligned<uint8_t>(at);
    case GgufValue::kI8:
      return load_unaligned<int8_t>(at);
    case GgufValue::kU16:
      return load_unaligned<uint16_t>(at);
    case GgufValue::kI16:
      return load_unaligned<int16_t>(at);
    case GgufValue::kU32:
      return load_unaligned<uint32_t>(at);
    case GgufValue::kI32:
      return load_unaligned<int32_t>(at);
    case GgufValue::kI64:
      return load_unaligned<int64_t>(at);
    default:
      throw Error(
          ErrorCode::kInternal, "[gguf] expected integers, got another type");
  }
}

} // namespace holdfast
