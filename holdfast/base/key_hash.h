// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Keys of runs of tokens: XXH3 of 128 bits (xxHash), chained over the parent's
// key. Equal in every process and on every machine: the seed is 0, integers are
// little-endian. Not safe against an adversary: a key is a hint, and who finds
// it compares the tokens. Values; any thread.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast {

struct Key128 {
  uint64_t high = 0;
  uint64_t low = 0;

  auto operator<=>(const Key128&) const = default;
  /// 32 small hexadecimal digits, high first.
  std::string hex() const;
};

/// XXH3 of these bytes.
Key128 key_of(std::span<const std::byte> bytes);

/// The key of `tokens` behind the run that `parent` names. `marks`: whatever
/// else the state of these tokens depends on, opaque. Hashed: low and high of
/// the parent, the count of tokens (u64), the tokens, the marks.
Key128 chained_key(
    const Key128& parent,
    std::span<const int32_t> tokens,
    std::string_view marks = {});

} // namespace holdfast

template <>
struct std::hash<holdfast::Key128> {
  size_t operator()(const holdfast::Key128& key) const {
    return static_cast<size_t>(key.low); // uniform already
  }
};
