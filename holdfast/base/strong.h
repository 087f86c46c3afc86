// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Strong integers, so that a position, a block index, a row index and a byte
// count cannot be swapped for one another. Values; any thread.

#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace holdfast {

template <class Tag>
class Strong {
 public:
  constexpr Strong() = default;
  constexpr explicit Strong(int64_t value) : value_(value) {}

  /// The plain number.
  constexpr int64_t get() const {
    return value_;
  }

  constexpr auto operator<=>(const Strong&) const = default;
  constexpr Strong& operator+=(Strong other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Strong& operator-=(Strong other) {
    value_ -= other.value_;
    return *this;
  }
  constexpr Strong& operator++() {
    ++value_;
    return *this;
  }
  friend constexpr Strong operator+(Strong a, Strong b) {
    return Strong(a.value_ + b.value_);
  }
  friend constexpr Strong operator-(Strong a, Strong b) {
    return Strong(a.value_ - b.value_);
  }

 private:
  int64_t value_ = 0;
};

/// A token's absolute index in its sequence; also a count of positions.
using Position = Strong<struct PositionTag>;
/// A block's absolute index in its chain: position / kBlockTokens.
using BlockIndex = Strong<struct BlockIndexTag>;
/// A row's place in a batch.
using RowIndex = Strong<struct RowIndexTag>;
/// A model's layer, counted from 0.
using LayerIndex = Strong<struct LayerIndexTag>;
/// A count of bytes.
using Bytes = Strong<struct BytesTag>;

} // namespace holdfast

template <class Tag>
struct std::hash<holdfast::Strong<Tag>> {
  size_t operator()(holdfast::Strong<Tag> value) const {
    return std::hash<int64_t>{}(value.get());
  }
};
