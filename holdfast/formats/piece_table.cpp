// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/piece_table.h"

#include <algorithm>
#include <array>
#include <bit>

namespace holdfast {

PieceTable::PieceTable(std::span<const std::string_view> pieces, HashSeed seed)
    : pieces_(pieces), seed_(seed) {
  const size_t count = std::bit_ceil(std::max<size_t>(pieces.size() * 2, 16));
  slots_.resize(count);
  mask_ = count - 1;
}

PieceTable::Pair PieceTable::index_all() {
  for (int seeds = 1; seeds < kMostSeeds; ++seeds) {
    if (const auto equal = index(kCrowdedSearch)) {
      return *equal;
    }
    seed_ = seed_.next();
    std::ranges::fill(slots_, Slot());
  }
  return *index(slots_.size());
}

/// Nothing, and the table half filled, where a piece passes more slots.
std::optional<PieceTable::Pair> PieceTable::index(size_t most_passed) {
  // Slots are all over a table larger than a core's cache, so they are asked
  // for a stretch of pieces ahead.
  constexpr size_t kStretch = 32;
  std::array<uint64_t, kStretch> hashes;
  for (size_t begin = 0; begin < pieces_.size(); begin += kStretch) {
    const size_t end = std::min(begin + kStretch, pieces_.size());
    for (size_t i = begin; i < end; ++i) {
      hashes[i - begin] = seeded_hash(pieces_[i], seed_);
      __builtin_prefetch(&slots_[hashes[i - begin] & mask_], 1);
    }
    for (size_t i = begin; i < end; ++i) {
      if (pieces_[i].empty()) {
        continue;
      }
      const auto id = static_cast<TokenId>(i);
      const auto [equal, passed] = insert(id, hashes[i - begin]);
      if (equal != kNoToken) {
        return Pair(equal, id);
      }
      if (passed > most_passed) {
        return std::nullopt;
      }
    }
  }
  return Pair(kNoToken, kNoToken);
}

// kNoToken, or the id of an equal piece (then nothing changes); the slots
// passed.
std::pair<TokenId, size_t> PieceTable::insert(TokenId id, uint64_t hash) {
  const std::string_view text = pieces_[static_cast<size_t>(id)];
  const auto tag = static_cast<uint32_t>(hash >> 32);
  uint64_t place = hash & mask_;
  size_t passed = 0;
  for (; slots_[place].id != kNoToken; place = (place + 1) & mask_, ++passed) {
    const Slot& slot = slots_[place];
    if (slot.tag == tag && pieces_[static_cast<size_t>(slot.id)] == text) {
      return {slot.id, passed};
    }
  }
  slots_[place] = {tag, id};
  longest_ = std::max(longest_, text.size());
  return {kNoToken, passed};
}

TokenId PieceTable::find(std::string_view text) const {
  if (text.empty() || text.size() > longest_) {
    return kNoToken;
  }
  const uint64_t hash = seeded_hash(text, seed_);
  const auto tag = static_cast<uint32_t>(hash >> 32);
  for (uint64_t place = hash & mask_; slots_[place].id != kNoToken;
       place = (place + 1) & mask_) {
    const Slot& slot = slots_[place];
    if (slot.tag == tag && pieces_[static_cast<size_t>(slot.id)] == text) {
      return slot.id;
    }
  }
  return kNoToken;
}

size_t PieceTable::passed(std::string_view text) const {
  size_t count = 0;
  for (uint64_t place = seeded_hash(text, seed_) & mask_;
       slots_[place].id != kNoToken &&
       pieces_[static_cast<size_t>(slots_[place].id)] != text;
       place = (place + 1) & mask_) {
    ++count;
  }
  return count;
}

} // namespace holdfast
