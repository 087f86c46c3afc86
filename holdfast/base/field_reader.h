// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Fields of stored bytes, read from their front. Each has a name; what cannot
// be read, or is out of its range, is an Error (kCorrupt) whose text is
// "<where><field> at offset N: expected ..., got ...". Numbers lie as on this
// machine (little-endian), at any address.
//
// Invariant: no count is believed before the bytes it stands for are there.
// One thread.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "holdfast/base/status.h"

namespace holdfast {

static_assert(
    std::endian::native == std::endian::little,
    "fields are stored as they lie in memory: a little-endian machine");

/// A field, and where it stands in its file.
struct FieldPlace {
  const char* field = "";
  int64_t offset = 0;
};

class FieldReader {
 public:
  /// where: how texts begin ("[resume point] ", "a.segment: "), alive as long
  /// as this. base: where the bytes begin in their file.
  FieldReader(
      std::span<const std::byte> bytes,
      std::string_view where,
      int64_t base = 0)
      : bytes_(bytes), where_(where), base_(base) {}
  FieldReader(std::string_view bytes, std::string_view where)
      : FieldReader(std::as_bytes(std::span(bytes)), where) {}

  FieldPlace place(const char* field) const {
    return {field, base_ + static_cast<int64_t>(used_)};
  }
  size_t left() const {
    return bytes_.size() - used_;
  }

  std::span<const std::byte> take(uint64_t count, const char* field) {
    require_left(count, 1, field);
    const auto result = bytes_.subspan(used_, static_cast<size_t>(count));
    used_ += static_cast<size_t>(count);
    return result;
  }
  std::string_view text(uint64_t count, const char* field) {
    const auto bytes = take(count, field);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  template <class T>
  std::vector<T> array(uint64_t count, const char* field) {
    static_assert(std::is_arithmetic_v<T>);
    require_left(count, sizeof(T), field);
    const auto bytes = take(count * sizeof(T), field);
    std::vector<T> values(static_cast<size_t>(count));
    if (!values.empty()) {
      std::memcpy(values.data(), bytes.data(), bytes.size());
    }
    return values;
  }
  template <class T>
  T number(const char* field) {
    static_assert(std::is_arithmetic_v<T>);
    T value;
    std::memcpy(&value, take(sizeof(T), field).data(), sizeof(T));
    return value;
  }
  template <class T>
  T number(
      const char* field,
      std::type_identity_t<T> low,
      std::type_identity_t<T> high) {
    const FieldPlace here = place(field);
    return within(here, number<T>(field), low, high);
  }
  /// A number of things, each of which takes at least `least` bytes behind it.
  uint32_t count(size_t least, const char* field) {
    const auto value = number<uint32_t>(field);
    require_left(value, least, field);
    return value;
  }
  /// kUnsupported where the number is another: of a later format.
  template <class T>
  void known(std::type_identity_t<T> expected, const char* field) {
    const FieldPlace here = place(field);
    equal(here, number<T>(field), expected, ErrorCode::kUnsupported);
  }
  void zero(uint64_t count, const char* field);
  void end(const char* field) const {
    equal<uint64_t>(place(field), left(), 0);
  }

  // Of values that were read.

  template <class T>
  T within(
      const FieldPlace& place,
      T value,
      std::type_identity_t<T> low,
      std::type_identity_t<T> high) const {
    if (value < low || value > high) {
      refuse(
          place,
          std::to_string(low) + " to " + std::to_string(high),
          std::to_string(value));
    }
    return value;
  }
  template <class T>
  void equal(
      const FieldPlace& place,
      T got,
      std::type_identity_t<T> expected,
      ErrorCode code = ErrorCode::kCorrupt) const {
    if (got != expected) {
      refuse(place, std::to_string(expected), std::to_string(got), code);
    }
  }
  [[noreturn]] void refuse(
      const FieldPlace& place,
      const std::string& expected,
      const std::string& got,
      ErrorCode code = ErrorCode::kCorrupt) const;

 private:
  void require_left(uint64_t count, size_t each, const char* field) const;

  const std::span<const std::byte> bytes_;
  const std::string_view where_;
  const int64_t base_;
  size_t used_ = 0;
};

} // namespace holdfast
