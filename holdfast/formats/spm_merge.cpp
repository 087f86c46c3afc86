// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/spm_merge.h"

#include <algorithm>

namespace holdfast {
struct SpmMerger::Later {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return a.score < b.score || (a.score == b.score && a.left > b.left);
  }
};

void SpmMerger::encode(std::string_view text, std::vector<TokenId>& ids) {
  after_unknown_ = false;
  split_into_symbols(text, ids);
}

void SpmMerger::split_into_symbols(
    std::string_view text,
    std::vector<TokenId>& ids) {
  symbols_.clear();
  uint8_t last = 0;
  for (size_t place = 0; place < text.size();) {
    const MarkedCharacter character = marked_character_at(text, place);
    if (!symbols_.empty() && !rules_.pairs.may_join(last, character.first)) {
      merge_segment(text, ids);
      symbols_.clear();
    }
    const auto index = static_cast<int32_t>(symbols_.size());
    if (index > 0) {
      symbols_.back().next = index;
    }
    symbols_.push_back(
        {index - 1,
         -1,
         static_cast<uint32_t>(place),
         static_cast<uint32_t>(character.size),
         kNoToken});
    last = character.last;
    place += character.size;
  }
  if (!symbols_.empty()) {
    merge_segment(text, ids);
  }
}

bool SpmMerger::candidate_at(
    std::string_view text,
    int32_t left,
    Candidate& result) {
  const Symbol& a = symbols_[static_cast<size_t>(left)];
  const Symbol& b = symbols_[static_cast<size_t>(a.next)];
  result.left = left;
  result.size = a.size + b.size;
  result.id = rules_.find_mergeable(text.substr(a.begin, result.size));
  if (result.id == kNoToken) {
    return false;
  }
  const auto id = static_cast<size_t>(result.id);
  result.score = rules_.scores[id];
  if (rules_.types[id] == PieceType::kUnused) {
    splits_[result.id] = a.size;
  }
  return true;
}

void SpmMerger::push_candidate_at(std::string_view text, int32_t left) {
  Candidate candidate;
  if (left >= 0 && symbols_[static_cast<size_t>(left)].next >= 0 &&
      candidate_at(text, left, candidate)) {
    heap_.push_back(candidate);
    std::push_heap(heap_.begin(), heap_.end(), Later());
  }
}

void SpmMerger::merge_segment(
    std::string_view text,
    std::vector<TokenId>& ids) {
  heap_.clear();
  Candidate candidate;
  for (size_t i = 0; i + 1 < symbols_.size(); ++i) {
    if (candidate_at(text, static_cast<int32_t>(i), candidate)) {
      heap_.push_back(candidate);
    }
  }
  std::make_heap(heap_.begin(), heap_.end(), Later());
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), Later());
    candidate = heap_.back();
    heap_.pop_back();
    Symbol& left = symbols_[static_cast<size_t>(candidate.left)];
    if (left.size == 0 || left.next < 0) {
      continue;
    }
    Symbol& right = symbols_[static_cast<size_t>(left.next)];
    if (left.size + right.size != candidate.size) {
      continue; // one of the two has grown since
    }
    left.size = candidate.size;
    left.id = candidate.id;
    left.next = right.next;
    right.size = 0;
    if (left.next >= 0) {
      symbols_[static_cast<size_t>(left.next)].previous = candidate.left;
    }
    push_candidate_at(text, left.previous);
    push_candidate_at(text, candidate.left);
  }
  for (int32_t i = 0; i >= 0; i = symbols_[static_cast<size_t>(i)].next) {
    const Symbol& symbol = symbols_[static_cast<size_t>(i)];
    const std::string_view part = text.substr(symbol.begin, symbol.size);
    emit(
        part,
        symbol.id == kNoToken ? rules_.find_mergeable(part) : symbol.id,
        ids);
  }
  if (!splits_.empty()) {
    splits_.clear();
  }
}

void SpmMerger::emit(
    std::string_view text,
    TokenId id,
    std::vector<TokenId>& ids) {
  stack_.clear();
  while (true) {
    if (id == kNoToken) {
      // A vocabulary without a piece for the space has at least its byte.
      emit_bytes(text == kSpaceMark ? " " : text, ids);
    } else {
      const auto split =
          rules_.types[static_cast<size_t>(id)] == PieceType::kUnused
          ? splits_.find(id)
          : splits_.end();
      if (split != splits_.end()) { // undo the merge: left part next
        stack_.push_back(text.substr(split->second));
        stack_.push_back(text.substr(0, split->second));
      } else {
        ids.push_back(id);
        after_unknown_ = false;
      }
    }
    if (stack_.empty()) {
      return;
    }
    text = stack_.back();
    stack_.pop_back();
    id = rules_.find_mergeable(text);
  }
}

void SpmMerger::emit_bytes(std::string_view text, std::vector<TokenId>& ids) {
  for (const char byte : text) {
    const TokenId id = rules_.byte_ids[static_cast<uint8_t>(byte)];
    if (id != kNoToken) {
      ids.push_back(id);
      after_unknown_ = false;
    } else if (!after_unknown_) {
      ids.push_back(rules_.unknown);
      after_unknown_ = true;
    }
  }
}

} // namespace holdfast
