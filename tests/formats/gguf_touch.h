// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Reads everything that a parsed GGUF file offers, so that a sanitizer sees
// any view that reaches too far. Shared by tests and fuzzer. One thread.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "holdfast/formats/gguf.h"

namespace holdfast::test {

inline uint64_t sum(std::string_view text) {
  uint64_t total = 0;
  for (const char c : text) {
    total = total * 31 + static_cast<unsigned char>(c);
  }
  return total;
}

inline uint64_t touch_array(const GgufFile& file, const GgufKey& key) {
  uint64_t total = 0;
  if (key.element == GgufValue::kString) {
    const GgufStrings texts = file.texts(key.name).value();
    for (const std::string_view text : texts) {
      total += sum(text);
    }
  } else if (key.element == GgufValue::kF32) {
    const GgufFloats values = file.numbers(key.name).value();
    for (int64_t i = 0; i < values.size(); ++i) {
      total += values[i] > 0;
    }
  } else if (key.element != GgufValue::kU64 && key.element != GgufValue::kF64) {
    const GgufIntegers values = file.integers(key.name).value();
    for (int64_t i = 0; i < values.size(); ++i) {
      total += static_cast<uint64_t>(values[i]);
    }
  }
  return total;
}

/// The accessor of the key's own type.
inline uint64_t touch_key(const GgufFile& file, const GgufKey& key) {
  switch (key.type) {
    case GgufValue::kArray:
      return touch_array(file, key);
    case GgufValue::kString:
      return sum(file.text(key.name).value());
    case GgufValue::kBool:
      return file.boolean(key.name).value();
    case GgufValue::kF32:
    case GgufValue::kF64:
      return file.number(key.name).value() > 0;
    default:
      break;
  }
  try {
    return static_cast<uint64_t>(file.integer(key.name).value());
  } catch (const Error&) {
    return key.type == GgufValue::kU64; // beyond int64_t
  }
}

/// The first and the last row of a tensor, as values and as codes.
inline uint64_t touch_tensor(const GgufFile& file, const GgufTensor& tensor) {
  const std::span<const std::byte> data = file.data(tensor);
  uint64_t total = 0;
  const int64_t k = tensor.ne[0];
  std::vector<float> values(static_cast<size_t>(k));
  for (const int64_t row : {int64_t{0}, tensor.rows() - 1}) {
    const std::byte* at = data.data() + row * tensor.row_bytes();
    read_values(tensor.type, at, k, values.data());
    total += values.back() > 0;
    const CodeFormat format = gguf_type_info(tensor.type).codes;
    if (format.bits > 0) {
      std::vector<uint8_t> codes(static_cast<size_t>(k));
      std::vector<float> scales(static_cast<size_t>(k / format.group));
      std::vector<float> offsets(scales.size());
      unpack_row(
          tensor.type,
          at,
          k,
          codes.data(),
          scales.data(),
          format.has_offsets ? offsets.data() : nullptr);
      total += codes.back();
    }
  }
  return total;
}

inline uint64_t touch(const GgufFile& file) {
  uint64_t total = 0;
  for (const GgufKey& key : file.keys()) {
    total += touch_key(file, key);
  }
  for (const GgufTensor& tensor : file.tensors()) {
    total += touch_tensor(file, tensor);
    total += file.tensor(tensor.name) == &tensor;
  }
  return total;
}

} // namespace holdfast::test
