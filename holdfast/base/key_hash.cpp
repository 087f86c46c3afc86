// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/base/key_hash.h"

#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <memory>

#include <xxhash.h>

#include "holdfast/base/check.h"

namespace holdfast {

namespace {

static_assert(
    std::endian::native == std::endian::little,
    "keys and checksums are of little-endian integers");

Key128 key(XXH128_hash_t hash) {
  return {hash.high64, hash.low64};
}

} // namespace

std::string Key128::hex() const {
  std::array<char, 33> text{};
  std::snprintf(
      text.data(),
      text.size(),
      "%016llx%016llx",
      static_cast<unsigned long long>(high),
      static_cast<unsigned long long>(low));
  return text.data();
}

Key128 key_of(std::span<const std::byte> bytes) {
  return key(XXH3_128bits(bytes.data(), bytes.size()));
}

Key128 chained_key(
    const Key128& parent,
    std::span<const int32_t> tokens,
    std::string_view marks) {
  const std::array<uint64_t, 3> head = {parent.low, parent.high, tokens.size()};
  // A block of 64 tokens fits on the stack.
  std::array<std::byte, sizeof(head) + 64 * sizeof(int32_t)> few{};
  if (tokens.size_bytes() <= few.size() - sizeof(head) && marks.empty()) {
    std::memcpy(few.data(), head.data(), sizeof(head));
    if (!tokens.empty()) {
      std::memcpy(
          few.data() + sizeof(head), tokens.data(), tokens.size_bytes());
    }
    return key_of(std::span(few).first(sizeof(head) + tokens.size_bytes()));
  }
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(
      XXH3_createState(), XXH3_freeState);
  ensure(
      state != nullptr && XXH3_128bits_reset(state.get()) == XXH_OK,
      "[chained_key] expected memory for a hash, got none");
  XXH3_128bits_update(state.get(), head.data(), sizeof(head));
  XXH3_128bits_update(state.get(), tokens.data(), tokens.size_bytes());
  XXH3_128bits_update(state.get(), marks.data(), marks.size());
  return key(XXH3_128bits_digest(state.get()));
}

} // namespace holdfast
