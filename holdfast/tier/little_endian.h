// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Numbers in stored bytes: little-endian, unaligned. The caller has checked
// that they lie within. Any thread.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace holdfast {

static_assert(
    std::endian::native == std::endian::little,
    "images are stored as they lie in memory: a little-endian machine");

template <class T>
T load_le(std::span<const std::byte> bytes, size_t offset) {
  static_assert(std::is_integral_v<T>);
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <class T>
void store_le(
    std::span<std::byte> bytes,
    size_t offset,
    std::type_identity_t<T> value) {
  static_assert(std::is_integral_v<T>);
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

} // namespace holdfast
