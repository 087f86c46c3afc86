// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/word_cache.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace holdfast {
namespace {

constexpr size_t kMostTextBytes = size_t{1} << 22;

uint64_t hash_of(std::string_view word) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15u; // 2^64 / golden ratio
  uint64_t hash = word.size() * kMultiplier;
  const char* from = word.data();
  size_t left = word.size();
  for (; left >= 8; left -= 8, from += 8) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, from, 8);
    hash = (hash ^ bytes) * kMultiplier;
    hash ^= hash >> 29;
  }
  uint64_t bytes = 0;
  std::memcpy(&bytes, from, left);
  hash = (hash ^ bytes) * kMultiplier;
  return hash ^ hash >> 32;
}

} // namespace

WordCache::WordCache(size_t text_bytes)
    : slots_(std::bit_ceil(
          std::clamp<size_t>(text_bytes / 8, 64, size_t{1} << 15))) {}

bool WordCache::append(std::string_view word, std::vector<TokenId>& ids) {
  hash_ = hash_of(word);
  const Slot& slot = slots_[hash_ & (slots_.size() - 1)];
  if (slot.hash != hash_ || slot.size != word.size() ||
      std::memcmp(texts_.data() + slot.text, word.data(), word.size()) != 0) {
    return false;
  }
  const size_t end = ids.size();
  ids.resize(end + slot.count);
  std::copy_n(ids.data() + slot.first, slot.count, ids.data() + end);
  return true;
}

void WordCache::keep(
    std::string_view word,
    const std::vector<TokenId>& ids,
    size_t first) {
  if (texts_.size() + word.size() > kMostTextBytes) {
    texts_.clear();
    std::fill(slots_.begin(), slots_.end(), Slot());
  }
  slots_[hash_ & (slots_.size() - 1)] = {
      hash_,
      static_cast<uint32_t>(texts_.size()),
      static_cast<uint32_t>(word.size()),
      static_cast<uint32_t>(first),
      static_cast<uint32_t>(ids.size() - first)};
  texts_.append(word);
}

} // namespace holdfast
