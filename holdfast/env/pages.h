// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Anonymous memory straight from the system, for large long-lived buffers:
// zero-filled, 2 MiB aligned, huge pages where the system has them. Owned by
// the object. Movable value; not thread safe.

#pragma once

#include <cstddef>
#include <utility>

#include "holdfast/base/strong.h"

namespace holdfast {

inline constexpr Bytes kPageBytes{4096};
inline constexpr Bytes kHugePageBytes{2 << 20};

class Pages {
 public:
  /// Maps that many bytes, a positive multiple of kPageBytes. Throws kIo where
  /// the system refuses.
  explicit Pages(Bytes bytes);
  Pages(Pages&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  Pages& operator=(Pages&&) = delete;
  ~Pages();

  std::byte* data() const {
    return data_;
  }
  Bytes bytes() const {
    return bytes_;
  }

 private:
  std::byte* data_ = nullptr;
  Bytes bytes_;
};

} // namespace holdfast
