// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4), computed by libcrypto. Digests name content that must
// not be mistaken for another: weights, adapters, media, scopes. A Sha256 is
// for one thread at a time; digests are values.

#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace holdfast {

struct Digest256 {
  std::array<std::byte, 32> bytes{};

  auto operator<=>(const Digest256&) const = default;
  /// 64 small hexadecimal digits.
  std::string hex() const;
  /// Nothing where `text` is not exactly what hex() gives.
  static std::optional<Digest256> from_hex(std::string_view text);
};

class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept = default;
  Sha256& operator=(Sha256&&) noexcept = default;
  ~Sha256();

  Sha256& add(std::span<const std::byte> bytes);
  /// Of all bytes added; then it starts anew.
  Digest256 finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* state) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> state_;
};

Digest256 sha256(std::span<const std::byte> bytes);
Digest256 sha256(std::string_view text);

} // namespace holdfast

template <>
struct std::hash<holdfast::Digest256> {
  size_t operator()(const holdfast::Digest256& digest) const {
    size_t part = 0;
    std::memcpy(&part, digest.bytes.data(), sizeof(part));
    return part;
  }
};
