// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Two neighbouring ids -> what they merge into, and how early: a flat hash
// table with open addressing. No search is long, whatever the pairs are
// (seeded_hash.h). Immutable once filled; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "holdfast/formats/seeded_hash.h"
#include "holdfast/formats/token_id.h"

namespace holdfast {

struct Merge {
  static constexpr uint32_t kNever = UINT32_MAX;
  uint32_t rank = kNever; // the lowest merges first
  TokenId product = kNoToken;
};

class MergeTable {
 public:
  /// Empty, with room for `count` pairs.
  explicit MergeTable(size_t count = 0, HashSeed seed = process_hash_seed());

  /// A pair that is there already gets the new rank.
  void insert(TokenId left, TokenId right, Merge merge);
  /// A rank of kNever where the two do not merge.
  Merge find(TokenId left, TokenId right) const {
    const uint64_t key = key_of(left, right);
    for (size_t place = place_of(key);; place = (place + 1) & mask_) {
      const Slot& slot = slots_[place];
      if (slot.key == key || slot.key == kFree) {
        return slot.merge;
      }
    }
  }

  /// Slots that the search for this pair passes.
  size_t passed(TokenId left, TokenId right) const;

 private:
  // No pair has this key: ids are not negative.
  static constexpr uint64_t kFree = UINT64_MAX;
  struct Slot {
    uint64_t key = kFree;
    Merge merge;
  };

  static uint64_t key_of(TokenId left, TokenId right) {
    return uint64_t{static_cast<uint32_t>(left)} << 32 |
        static_cast<uint32_t>(right);
  }
  size_t place_of(uint64_t key) const {
    return static_cast<size_t>(seeded_hash(key, seed_) & mask_);
  }
  /// Gives how many slots it passed.
  size_t place(uint64_t key, Merge merge);
  /// All pairs again, by the next seed; gives the most slots that one passed.
  size_t place_all_anew();

  HashSeed seed_;
  std::vector<Slot> slots_; // power of two, at most half full
  size_t mask_ = 0;
  int seeds_ = 1; // tried
};

} // namespace holdfast
