// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Metadata values of a GGUF file: their types, and views of arrays that decode
// an element when it is asked for. The elements lie unaligned in the file.
// Views are small values over bytes that GgufFile has checked and that must
// outlive them; an index must be below size(). Any thread.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>

namespace holdfast {

/// The values are the format's type ids.
enum class GgufValue : uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};

/// The format's name, "U32"; nullptr for an id that it does not define.
const char* gguf_value_name(uint32_t id);
/// Bytes of a scalar; 0 for strings, arrays and undefined ids.
int gguf_value_bytes(uint32_t id);

/// Reads a little-endian scalar that needs no alignment.
template <class T>
T load_unaligned(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

class GgufFloats {
 public:
  GgufFloats(const std::byte* data, int64_t size) : data_(data), size_(size) {}
  int64_t size() const {
    return size_;
  }
  float operator[](int64_t index) const {
    return load_unaligned<float>(data_ + index * 4);
  }

 private:
  const std::byte* data_;
  int64_t size_;
};

class GgufIntegers {
 public:
  GgufIntegers(const std::byte* data, int64_t size, GgufValue element)
      : data_(data), size_(size), element_(element) {}
  int64_t size() const {
    return size_;
  }
  int64_t operator[](int64_t index) const;

 private:
  const std::byte* data_;
  int64_t size_;
  GgufValue element_;
};

/// Strings one after the other, each behind its 64-bit length: walk them from
/// the front. The lengths are read from the file once more, which may be mapped
/// and change meanwhile: none reaches past the bytes given.
class GgufStrings {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::string_view*;
    using reference = std::string_view;

    Iterator() = default;
    Iterator(std::span<const std::byte> left, int64_t index)
        : left_(left), index_(index) {}
    std::string_view operator*() const {
      const std::span<const std::byte> text = left_.subspan(begin(), length());
      return {reinterpret_cast<const char*>(text.data()), text.size()};
    }
    Iterator& operator++() {
      left_ = left_.subspan(begin() + length());
      ++index_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const {
      return index_ == other.index_;
    }

   private:
    size_t begin() const {
      return std::min<size_t>(8, left_.size());
    }
    size_t length() const {
      return left_.size() < 8
          ? 0
          : std::min<uint64_t>(
                load_unaligned<uint64_t>(left_.data()), left_.size() - 8);
    }
    std::span<const std::byte> left_; // from this string's length on
    int64_t index_ = 0;
  };

  /// `size` strings at the start of `bytes`.
  GgufStrings(std::span<const std::byte> bytes, int64_t size)
      : bytes_(bytes), size_(size) {}
  int64_t size() const {
    return size_;
  }
  Iterator begin() const {
    return {bytes_, 0};
  }
  Iterator end() const {
    return {{}, size_};
  }

 private:
  std::span<const std::byte> bytes_;
  int64_t size_;
};

} // namespace holdfast
