// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/piece_matcher.h"

#include <algorithm>
#include <utility>

namespace holdfast {
namespace {

unsigned char byte_at(const PieceMatcher::Entry& entry, size_t depth) {
  return static_cast<unsigned char>(entry.text[depth]);
}

} // namespace

PieceMatcher::PieceMatcher(std::vector<Entry> entries)
    : entries_(std::move(entries)) {
  std::sort(
      entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
        return a.text < b.text;
      });
  size_t entry = 0;
  for (size_t byte = 0; byte < first_.size(); ++byte) {
    while (entry < entries_.size() && byte_at(entries_[entry], 0) < byte) {
      ++entry;
    }
    first_[byte] = entry;
  }
}

const PieceMatcher::Entry*
PieceMatcher::longest_at(std::string_view text) const {
  if (text.empty()) {
    return nullptr;
  }
  const auto lead = static_cast<unsigned char>(text[0]);
  auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first_[lead]);
  auto end = entries_.begin() + static_cast<std::ptrdiff_t>(first_[lead + 1u]);
  const Entry* best = nullptr;
  for (size_t depth = 1; begin != end; ++depth) {
    // All of [begin, end) agree with text in their first `depth` bytes; the
    // one that ends here, if any, sorts first.
    if (begin->text.size() == depth) {
      best = &*begin;
      ++begin;
    }
    if (depth == text.size()) {
      break;
    }
    const auto wanted = static_cast<unsigned char>(text[depth]);
    begin = std::partition_point(begin, end, [&](const Entry& entry) {
      return byte_at(entry, depth) < wanted;
    });
    end = std::partition_point(begin, end, [&](const Entry& entry) {
      return byte_at(entry, depth) == wanted;
    });
  }
  return best;
}

} // namespace holdfast
