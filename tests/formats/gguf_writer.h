// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Builds the bytes of GGUF files for tests, good ones and, through its open
// members, any fault in any field. One thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/formats/gguf_array.h"
#include "holdfast/formats/gguf_quant.h"

namespace holdfast::test {

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

/// A 64-bit length and the text.
inline std::string gguf_string(std::string_view text) {
  std::string out;
  put<uint64_t>(out, text.size());
  return out.append(text);
}

struct GgufImage {
  struct Tensor {
    std::string name;
    std::vector<uint64_t> ne;
    GgufType type = GgufType::kF32;
    uint64_t offset = 0; // from the start of the data
    std::optional<uint32_t> dims = {}; // said instead of ne's size
    std::optional<uint32_t> raw_type = {}; // said instead of type
  };

  std::string magic = "GGUF";
  uint32_t version = 3;
  std::optional<uint64_t> tensor_count = {}; // said instead of the true ones
  std::optional<uint64_t> key_count = {};
  std::vector<std::string> keys; // encoded entries
  std::vector<Tensor> tensors;
  uint64_t alignment = 32; // where the data begin, and how tensors are placed
  uint64_t data_bytes = 0;

  void add_raw(std::string_view name, uint32_t type, std::string_view value) {
    std::string entry = gguf_string(name);
    put(entry, type);
    keys.push_back(entry.append(value));
  }
  template <class T>
  void add(std::string_view name, GgufValue type, T value) {
    std::string bytes;
    put(bytes, value);
    add_raw(name, static_cast<uint32_t>(type), bytes);
  }
  void add_text(std::string_view name, std::string_view text) {
    add_raw(name, static_cast<uint32_t>(GgufValue::kString), gguf_string(text));
  }
  /// `elements` are the encoded elements, one after the other.
  void add_array(
      std::string_view name,
      uint32_t element,
      uint64_t count,
      std::string_view elements) {
    std::string bytes;
    put(bytes, element);
    put(bytes, count);
    add_raw(
        name, static_cast<uint32_t>(GgufValue::kArray), bytes.append(elements));
  }
  void add_texts(std::string_view name, const std::vector<std::string>& texts) {
    std::string bytes;
    for (const std::string& text : texts) {
      bytes += gguf_string(text);
    }
    const auto element = static_cast<uint32_t>(GgufValue::kString);
    add_array(name, element, texts.size(), bytes);
  }
  template <class T>
  void add_values(
      std::string_view name,
      GgufValue element,
      const std::vector<T>& values) {
    std::string bytes;
    for (const T value : values) {
      put(bytes, value);
    }
    add_array(name, static_cast<uint32_t>(element), values.size(), bytes);
  }
  /// Places a tensor behind the others; the last one is not padded.
  void add_tensor(std::string name, GgufType type, std::vector<uint64_t> ne) {
    const GgufTypeInfo& info = gguf_type_info(type);
    uint64_t weights = 1;
    for (const uint64_t size : ne) {
      weights *= size;
    }
    const uint64_t offset = aligned(data_bytes);
    data_bytes = offset +
        weights / static_cast<uint64_t>(info.block) *
            static_cast<uint64_t>(info.block_bytes);
    tensors.push_back({std::move(name), std::move(ne), type, offset});
  }

  uint64_t aligned(uint64_t bytes) const {
    return (bytes + alignment - 1) / alignment * alignment;
  }

  /// Everything before the data.
  std::string header() const {
    std::string out = magic;
    put(out, version);
    put<uint64_t>(out, tensor_count.value_or(tensors.size()));
    put<uint64_t>(out, key_count.value_or(keys.size()));
    for (const std::string& key : keys) {
      out += key;
    }
    for (const Tensor& tensor : tensors) {
      out += gguf_string(tensor.name);
      put(out, tensor.dims.value_or(static_cast<uint32_t>(tensor.ne.size())));
      for (const uint64_t size : tensor.ne) {
        put(out, size);
      }
      put(out, tensor.raw_type.value_or(static_cast<uint32_t>(tensor.type)));
      put(out, tensor.offset);
    }
    return out;
  }
  /// The whole file; byte i of the data is 31 * i + 7 modulo 256.
  std::string bytes() const {
    std::string out = header();
    out.resize(aligned(out.size()));
    for (uint64_t i = 0; i < data_bytes; ++i) {
      out.push_back(static_cast<char>(31 * i + 7));
    }
    return out;
  }
};

/// A small model file that uses every value type and several tensor types.
inline GgufImage small_gguf() {
  GgufImage image;
  image.add_text("general.architecture", "test");
  image.add<uint8_t>("a.u8", GgufValue::kU8, 200);
  image.add<int8_t>("a.i8", GgufValue::kI8, -100);
  image.add<uint16_t>("a.u16", GgufValue::kU16, 60000);
  image.add<int16_t>("a.i16", GgufValue::kI16, -30000);
  image.add<uint32_t>("a.u32", GgufValue::kU32, 4000000000u);
  image.add<int32_t>("a.i32", GgufValue::kI32, -2000000000);
  image.add<uint64_t>("a.u64", GgufValue::kU64, uint64_t{1} << 62);
  image.add<int64_t>("a.i64", GgufValue::kI64, -(int64_t{1} << 62));
  image.add<float>("a.f32", GgufValue::kF32, 0.1f);
  image.add<double>("a.f64", GgufValue::kF64, 0.1);
  image.add<uint8_t>("a.yes", GgufValue::kBool, 1);
  image.add<uint8_t>("a.no", GgufValue::kBool, 0);
  image.add_texts("a.texts", {"one", "", "three \xe2\x96\x81"});
  image.add_values<float>("a.floats", GgufValue::kF32, {1.5f, -2.0f});
  image.add_values<int32_t>("a.ints", GgufValue::kI32, {3, -4, 5});
  image.add_values<uint8_t>("a.bools", GgufValue::kBool, {1, 0});
  image.add_tensor("norm", GgufType::kF32, {5});
  image.add_tensor("quant", GgufType::kQ8_0, {64, 3});
  image.add_tensor("deep", GgufType::kQ4_K, {256, 2, 1, 2});
  return image;
}

} // namespace holdfast::test
