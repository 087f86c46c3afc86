// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Hashes for tables whose keys a file chooses. The seed is drawn once a
// process, so that no file can be made whose keys meet in one place; a table
// that finds its keys crowded all the same takes the next seed. What a table
// answers depends on no seed. Not for what is stored. Values; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast {

struct HashSeed {
  uint64_t first = 0;
  uint64_t second = 0;

  /// Another one, made of this.
  HashSeed next() const;
};

/// This process's, which differs from run to run.
HashSeed process_hash_seed();

/// Slots that a search may pass in a table that is at most half full before its
/// keys count as crowded: in a table of a million keys that are spread evenly,
/// the longest search passes about 70.
inline constexpr size_t kCrowdedSearch = 128;
/// Seeds that a table tries. That as many crowd it one after the other does not
/// happen; if it did, it would be slow and right.
inline constexpr int kMostSeeds = 8;

/// Both halves of the product.
inline uint64_t folded(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t seeded_hash(uint64_t key, const HashSeed& seed) {
  return folded(key ^ seed.first, seed.second | 1);
}
uint64_t seeded_hash(std::string_view text, const HashSeed& seed);

} // namespace holdfast
