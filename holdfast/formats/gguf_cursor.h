// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A bounds-checked walk over the bytes of a GGUF file. Every read names its
// field; a read that cannot be done throws Error with the one line "<file>:
// <field> at offset N: expected ..., got ...". Internal to the reader; one
// thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "holdfast/base/status.h"
#include "holdfast/formats/gguf_array.h"

namespace holdfast {

/// "<file>: <field> at offset N: expected <expected>, got <got>".
std::string gguf_complaint(
    std::string_view file,
    std::string_view field,
    int64_t offset,
    std::string_view expected,
    std::string_view got);

class GgufCursor {
 public:
  GgufCursor(std::span<const std::byte> bytes, std::string_view file)
      : bytes_(bytes), file_(file) {}

  int64_t offset() const {
    return offset_;
  }
  /// Bytes from here to the end of the file.
  uint64_t left() const {
    return bytes_.size() - static_cast<size_t>(offset_);
  }
  const std::byte* here() const {
    return bytes_.data() + offset_;
  }

  /// The field's name is `field` + `suffix`, joined only where it is needed.
  template <class T>
  T read(std::string_view field, std::string_view suffix = {}) {
    require(sizeof(T), field, suffix);
    const T value = load_unaligned<T>(here());
    offset_ += sizeof(T);
    return value;
  }
  /// A 64-bit length and that many bytes.
  std::string_view
  read_string(std::string_view field, std::string_view suffix = {});
  /// Skips bytes that must be there.
  void skip(uint64_t bytes, std::string_view field) {
    require(bytes, field, {});
    offset_ += static_cast<int64_t>(bytes);
  }

  [[noreturn]] void corrupt(
      std::string_view field,
      int64_t offset,
      std::string_view expected,
      std::string_view got) const {
    fail(ErrorCode::kCorrupt, field, offset, expected, got);
  }
  [[noreturn]] void unsupported(
      std::string_view field,
      int64_t offset,
      std::string_view expected,
      std::string_view got) const {
    fail(ErrorCode::kUnsupported, field, offset, expected, got);
  }

 private:
  void require(uint64_t bytes, std::string_view field, std::string_view suffix)
      const {
    if (bytes > left()) [[unlikely]] {
      too_short(bytes, field, suffix);
    }
  }
  [[noreturn]] void too_short(
      uint64_t bytes,
      std::string_view field,
      std::string_view suffix) const;
  [[noreturn]] void fail(
      ErrorCode code,
      std::string_view field,
      int64_t offset,
      std::string_view expected,
      std::string_view got) const;

  std::span<const std::byte> bytes_;
  std::string_view file_;
  int64_t offset_ = 0; // at most the size of bytes_
};

} // namespace holdfast
