// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The checksum of stored bytes: XXH3 of 64 bits (xxHash), seed 0. It finds what
// a device or a crash spoiled, with a chance of 2^-64 to miss it, against
// CRC-32C's 2^-32, and it is as fast as memory without code of ours. It is no
// defence against who spoils bytes on purpose. Values; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

struct XXH3_state_s;

namespace holdfast {

/// Of no bytes it is not 0, and neither is it of bytes that are all 0.
uint64_t checksum(std::span<const std::byte> bytes);
uint64_t checksum(std::string_view text);

/// The same over pieces, for one thread at a time.
class Checksum {
 public:
  Checksum();
  Checksum(Checksum&&) noexcept = default;
  Checksum& operator=(Checksum&&) noexcept = default;
  ~Checksum();
  Checksum& add(std::span<const std::byte> bytes);
  /// Of all bytes added so far.
  uint64_t value() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

} // namespace holdfast
