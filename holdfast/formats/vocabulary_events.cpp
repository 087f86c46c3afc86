// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/vocabulary_events.h"

#include "holdfast/base/quoted_text.h"

namespace holdfast {

std::vector<std::pair<std::string_view, std::string_view>>
VocabularyEvents::merges() const {
  std::vector<std::pair<std::string_view, std::string_view>> result;
  result.reserve(merges_.size());
  const std::string_view texts = merge_texts_;
  for (const MergeText& merge : merges_) {
    result.emplace_back(
        texts.substr(merge.begin, merge.left),
        texts.substr(merge.begin + merge.left, merge.right));
  }
  return result;
}

void VocabularyEvents::expect_tree() {
  if (within_ == Within::kPieces) {
    complain(
        "model.vocab." + escaped_text(text(pieces_.back())) +
        ": expected a number from 0 on, got another value");
  }
  if (within_ != Within::kTree) {
    complain(
        "model.merges" + rank() + ": expected two pieces, got another value");
  }
}

std::string VocabularyEvents::rank() const {
  return std::string("[").append(std::to_string(merges_.size())) + ']';
}

bool VocabularyEvents::is_member(std::string_view name) const {
  return within_ == Within::kTree && depth() == 2 && outer_ == "model" &&
      inner_ == name;
}

bool VocabularyEvents::null() {
  expect_tree();
  return JsonTree::null();
}
bool VocabularyEvents::boolean(bool value) {
  expect_tree();
  return JsonTree::boolean(value);
}
bool VocabularyEvents::number_integer(number_integer_t value) {
  expect_tree();
  return JsonTree::number_integer(value);
}
bool VocabularyEvents::number_float(
    number_float_t value,
    const string_t& text) {
  expect_tree();
  return JsonTree::number_float(value, text);
}

bool VocabularyEvents::number_unsigned(number_unsigned_t value) {
  if (within_ == Within::kPieces) {
    pieces_.back().id = value;
    return true;
  }
  expect_tree();
  return JsonTree::number_unsigned(value);
}

bool VocabularyEvents::string(string_t& value) {
  switch (within_) {
    case Within::kMerges:
      add_line(value);
      return true;
    case Within::kPair:
      add_half(value);
      return true;
    default:
      expect_tree();
      return JsonTree::string(value);
  }
}

bool VocabularyEvents::key(string_t& key) {
  if (within_ == Within::kPieces) {
    pieces_.push_back({texts_.size(), key.size(), 0});
    texts_ += key;
    return true;
  }
  if (depth() == 1) {
    outer_ = key;
  } else if (depth() == 2) {
    inner_ = key;
  }
  return JsonTree::key(key);
}

bool VocabularyEvents::start_object(size_t size) {
  const bool pieces = is_member("vocab");
  expect_tree();
  JsonTree::start_object(size);
  if (pieces) {
    within_ = Within::kPieces;
  }
  return true;
}

bool VocabularyEvents::end_object() {
  within_ = Within::kTree;
  return JsonTree::end_object();
}

bool VocabularyEvents::start_array(size_t size) {
  if (within_ == Within::kMerges) {
    within_ = Within::kPair;
    merges_.push_back({merge_texts_.size(), 0, 0});
    halves_ = 0;
    return true;
  }
  const bool merges = is_member("merges");
  expect_tree();
  JsonTree::start_array(size);
  if (merges) {
    within_ = Within::kMerges;
  }
  return true;
}

bool VocabularyEvents::end_array() {
  if (within_ == Within::kPair) {
    if (halves_ != 2) {
      complain(
          "model.merges" + rank() + ": expected two pieces before, got " +
          std::to_string(halves_));
    }
    within_ = Within::kMerges;
    return true;
  }
  within_ = Within::kTree;
  return JsonTree::end_array();
}

/// "left right": what older files have.
void VocabularyEvents::add_line(std::string_view line) {
  const size_t space = line.find(' ');
  if (space == line.npos || line.find(' ', space + 1) != line.npos) {
    complain(
        "model.merges" + rank() +
        ": expected two pieces with a space between, got " + quoted_text(line));
  }
  merges_.push_back({merge_texts_.size(), space, line.size() - space - 1});
  merge_texts_.append(line.substr(0, space)).append(line.substr(space + 1));
}

void VocabularyEvents::add_half(std::string_view half) {
  if (halves_ == 2) {
    complain(
        "model.merges" + rank() + ": expected two pieces before, got more");
  }
  (halves_ == 0 ? merges_.back().left : merges_.back().right) = half.size();
  merge_texts_ += half;
  ++halves_;
}

} // namespace holdfast
