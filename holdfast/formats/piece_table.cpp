// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/piece_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace holdfast {
namespace {

constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15u; // 2^64 / golden ratio

uint64_t mix(uint64_t value) {
  value *= kMultiplier;
  return value ^ (value >> 29);
}

// Eight bytes at a time; the last word overlaps the one before it. Hostile
// vocabularies can make slots collide; the result stays right.
uint64_t hash_of(std::string_view text) {
  const size_t size = text.size();
  uint64_t word = 0;
  uint64_t hash = size;
  if (size < 8) {
    std::memcpy(&word, text.data(), size);
    return mix(mix(hash ^ word) + word);
  }
  for (size_t i = 0; i + 8 < size; i += 8) {
    std::memcpy(&word, text.data() + i, 8);
    hash = mix(hash ^ word);
  }
  std::memcpy(&word, text.data() + size - 8, 8);
  return mix(mix(hash ^ word) + word);
}

} // namespace

PieceTable::PieceTable(std::span<const std::string_view> pieces)
    : pieces_(pieces) {
  const size_t count = std::bit_ceil(std::max<size_t>(pieces.size() * 2, 16));
  slots_.resize(count);
  mask_ = count - 1;
}

std::pair<TokenId, TokenId> PieceTable::index_all() {
  // Slots are all over a table larger than a core's cache, so they are asked
  // for a stretch of pieces ahead.
  constexpr size_t kStretch = 32;
  std::array<uint64_t, kStretch> hashes;
  for (size_t begin = 0; begin < pieces_.size(); begin += kStretch) {
    const size_t end = std::min(begin + kStretch, pieces_.size());
    for (size_t i = begin; i < end; ++i) {
      hashes[i - begin] = hash_of(pieces_[i]);
      __builtin_prefetch(&slots_[hashes[i - begin] & mask_], 1);
    }
    for (size_t i = begin; i < end; ++i) {
      if (pieces_[i].empty()) {
        continue;
      }
      const auto id = static_cast<TokenId>(i);
      const TokenId equal = insert(id, hashes[i - begin]);
      if (equal != kNoToken) {
        return {equal, id};
      }
    }
  }
  return {kNoToken, kNoToken};
}

// kNoToken, or the id of an equal piece (then nothing changes).
TokenId PieceTable::insert(TokenId id, uint64_t hash) {
  const std::string_view text = pieces_[static_cast<size_t>(id)];
  const auto tag = static_cast<uint32_t>(hash >> 32);
  uint64_t place = hash & mask_;
  while (slots_[place].id != kNoToken) {
    const Slot& slot = slots_[place];
    if (slot.tag == tag && pieces_[static_cast<size_t>(slot.id)] == text) {
      return slot.id;
    }
    place = (place + 1) & mask_;
  }
  slots_[place] = {tag, id};
  longest_ = std::max(longest_, text.size());
  return kNoToken;
}

TokenId PieceTable::find(std::string_view text) const {
  if (text.empty() || text.size() > longest_) {
    return kNoToken;
  }
  const uint64_t hash = hash_of(text);
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

} // namespace holdfast
