// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/bpe_merge.h"

#include <algorithm>

#include "holdfast/formats/byte_alphabet.h"

namespace holdfast {
namespace {

// Up to here looking at all pairs beats a queue.
constexpr size_t kShort = 48;

} // namespace

void BpeMerger::encode(std::string_view word, std::vector<TokenId>& ids) {
  after_unknown_ = false;
  if (rules_.whole_words && append_whole(word, ids)) {
    return;
  }
  if (word.size() <= WordCache::kMostBytes) {
    encode_segment(word, ids);
    return;
  }
  // No merge crosses two bytes that meet in no piece.
  size_t begin = 0;
  uint8_t last = 0;
  for (size_t place = 0; place < word.size();) {
    const auto byte = static_cast<uint8_t>(word[place]);
    const MarkedCharacter character = rules_.byte_level
        ? MarkedCharacter{1, byte, byte}
        : marked_character_at(word, place);
    if (place > begin && !rules_.pairs.may_join(last, character.first)) {
      encode_segment(word.substr(begin, place - begin), ids);
      begin = place;
    }
    last = character.last;
    place += character.size;
  }
  encode_segment(word.substr(begin), ids);
}

bool BpeMerger::append_whole(std::string_view word, std::vector<TokenId>& ids) {
  stored_.clear();
  if (rules_.byte_level) {
    append_in_alphabet(word, stored_);
  } else {
    stored_ = word;
  }
  const TokenId id = rules_.table.find(stored_);
  if (id == kNoToken) {
    return false;
  }
  ids.push_back(id);
  return true;
}

void BpeMerger::encode_segment(
    std::string_view segment,
    std::vector<TokenId>& ids) {
  const bool short_enough = segment.size() <= WordCache::kMostBytes;
  const size_t first = ids.size();
  const bool known = short_enough && cache_.append(segment, ids);
  if (!known) {
    fill_symbols(segment);
    if (symbols_.size() <= kShort) {
      merge_short();
    } else {
      merge_long();
    }
    ids.insert(ids.end(), symbols_.begin(), symbols_.end());
  }
  if (rules_.fuse_unknown && after_unknown_ && ids[first] == rules_.unknown) {
    // The run began in the segment before: one id is enough.
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(first));
  } else if (short_enough && !known) {
    cache_.keep(segment, ids, first);
  }
  after_unknown_ = ids.back() == rules_.unknown;
}

void BpeMerger::fill_symbols(std::string_view segment) {
  symbols_.clear();
  if (rules_.byte_level) {
    for (const char byte : segment) {
      symbols_.push_back(rules_.byte_ids[static_cast<uint8_t>(byte)]);
    }
    return;
  }
  for (size_t place = 0; place < segment.size();) {
    const size_t size = marked_character_at(segment, place).size;
    const auto character = segment.substr(place, size);
    place += size;
    const TokenId id = rules_.table.find(character);
    if (id != kNoToken) {
      symbols_.push_back(id);
      continue;
    }
    for (const char byte : character) {
      const TokenId own = rules_.byte_ids[static_cast<uint8_t>(byte)];
      if (own != kNoToken) {
        symbols_.push_back(own);
        continue;
      }
      const bool again = rules_.fuse_unknown && !symbols_.empty() &&
          symbols_.back() == rules_.unknown;
      if (!again) {
        symbols_.push_back(rules_.unknown);
      }
      break; // one for the character
    }
  }
}

void BpeMerger::merge_short() {
  const auto merge_at = [&](size_t i) {
    return i + 1 < symbols_.size()
        ? rules_.merges.find(symbols_[i], symbols_[i + 1])
        : Merge();
  };
  next_.clear();
  for (size_t i = 0; i < symbols_.size(); ++i) {
    next_.push_back(merge_at(i));
  }
  while (symbols_.size() > 1) {
    const auto best = std::min_element(
        next_.begin(), next_.end(), [](const Merge& a, const Merge& b) {
          return a.rank < b.rank;
        });
    if (best->rank == Merge::kNever) {
      return;
    }
    const auto at = best - next_.begin();
    const auto i = static_cast<size_t>(at);
    symbols_[i] = best->product;
    symbols_.erase(symbols_.begin() + at + 1);
    next_.erase(next_.begin() + at + 1);
    next_[i] = merge_at(i);
    if (i > 0) {
      next_[i - 1] = merge_at(i - 1);
    }
  }
}

struct BpeMerger::Later {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return a.rank > b.rank || (a.rank == b.rank && a.left > b.left);
  }
};

void BpeMerger::push_candidate(int32_t left) {
  if (left < 0) {
    return;
  }
  const Symbol& symbol = linked_[static_cast<size_t>(left)];
  if (symbol.next < 0) {
    return;
  }
  const Merge merge = rules_.merges.find(
      symbol.id, linked_[static_cast<size_t>(symbol.next)].id);
  if (merge.rank != Merge::kNever) {
    heap_.push_back({merge.rank, left, merge.product});
    std::push_heap(heap_.begin(), heap_.end(), Later());
  }
}

void BpeMerger::merge_long() {
  const auto count = static_cast<int32_t>(symbols_.size());
  linked_.clear();
  for (int32_t i = 0; i < count; ++i) {
    linked_.push_back(
        {i - 1, i + 1 < count ? i + 1 : -1, symbols_[static_cast<size_t>(i)]});
  }
  heap_.clear();
  for (int32_t i = 0; i < count; ++i) {
    push_candidate(i);
  }
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), Later());
    const Candidate candidate = heap_.back();
    heap_.pop_back();
    Symbol& left = linked_[static_cast<size_t>(candidate.left)];
    if (left.id == kNoToken || left.next < 0) {
      continue;
    }
    Symbol& right = linked_[static_cast<size_t>(left.next)];
    const Merge now = rules_.merges.find(left.id, right.id);
    if (now.rank != candidate.rank) {
      continue; // one of the two has merged since
    }
    left.id = candidate.product;
    left.next = right.next;
    right.id = kNoToken;
    if (left.next >= 0) {
      linked_[static_cast<size_t>(left.next)].previous = candidate.left;
    }
    push_candidate(left.previous);
    push_candidate(candidate.left);
  }
  symbols_.clear();
  for (int32_t i = 0; i >= 0; i = linked_[static_cast<size_t>(i)].next) {
    symbols_.push_back(linked_[static_cast<size_t>(i)].id);
  }
}

} // namespace holdfast
