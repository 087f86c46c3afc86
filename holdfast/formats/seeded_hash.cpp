// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/seeded_hash.h"

#include <cstring>
#include <random>

namespace holdfast {
namespace {

constexpr uint64_t kOne = 0x9E3779B97F4A7C15u; // 2^64 / golden ratio
constexpr uint64_t kTwo = 0xC2B2AE3D27D4EB4Fu; // odd, half of its bits set

HashSeed drawn() {
  std::random_device device;
  const auto word = [&] {
    return static_cast<uint64_t>(device()) << 32 | device();
  };
  const uint64_t first = word();
  return {first, word()};
}

} // namespace

HashSeed HashSeed::next() const {
  return {
      folded(first ^ kOne, second | 1) + kTwo,
      folded(second ^ kTwo, first | 1) + kOne};
}

HashSeed process_hash_seed() {
  static const HashSeed seed = drawn();
  return seed;
}

// Eight bytes at a time; the last word overlaps the one before it.
uint64_t seeded_hash(std::string_view text, const HashSeed& seed) {
  const size_t size = text.size();
  const uint64_t by = seed.second | 1;
  uint64_t word = 0;
  uint64_t hash = folded(size ^ seed.first, kOne);
  if (size < 8) {
    std::memcpy(&word, text.data(), size);
    return folded(hash ^ word, by);
  }
  for (size_t i = 0; i + 8 < size; i += 8) {
    std::memcpy(&word, text.data() + i, 8);
    hash = folded(hash ^ word, by);
  }
  std::memcpy(&word, text.data() + size - 8, 8);
  return folded(hash ^ word, by);
}

} // namespace holdfast
