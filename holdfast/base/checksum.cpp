// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/base/checksum.h"

#include <xxhash.h>

#include "holdfast/base/check.h"

namespace holdfast {

uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

uint64_t checksum(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}

void Checksum::Free::operator()(XXH3_state_s* state) const {
  XXH3_freeState(state);
}

Checksum::Checksum() : state_(XXH3_createState()) {
  ensure(
      state_ != nullptr && XXH3_64bits_reset(state_.get()) == XXH_OK,
      "[Checksum] expected memory for a checksum, got none");
}

Checksum::~Checksum() = default;

Checksum& Checksum::add(std::span<const std::byte> bytes) {
  XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
  return *this;
}

uint64_t Checksum::value() const {
  return XXH3_64bits_digest(state_.get());
}

} // namespace holdfast
