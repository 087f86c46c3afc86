// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The index as a list: every image that was put in, with the text up to its
// end. What is usable is tried length by length, position by position.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "holdfast/rows/chain.h"
#include "tests/prefix/prefix_rig.h"

namespace holdfast {

class KnownModel {
 public:
  explicit KnownModel(std::vector<GroupRule> rules)
      : rules_(std::move(rules)) {}

  struct Entry {
    Text text;
    int64_t block = 0;
    int64_t end = 0; // of the image's positions
    ImageSlot slot;
    bool in_ram = true;
    bool on_disk = false;
    int64_t agrees = 0; // leading positions with the prompt
  };

  void put(const Text& text, const std::vector<GivenImage>& images) {
    for (const GivenImage& image : images) {
      const int64_t end =
          std::min((image.block.get() + 1) * kBlockTokens, text.size());
      entries_.push_back(
          {text, image.block.get(), end, image.slot, true, false});
    }
  }
  /// All that is in RAM is on disk as well from now on.
  void store_all() {
    for (Entry& entry : entries_) {
      entry.on_disk |= entry.in_ram;
    }
  }
  void lose_ram() {
    for (Entry& entry : entries_) {
      entry.in_ram = false;
    }
    std::erase_if(entries_, [](const Entry& entry) { return !entry.on_disk; });
  }

  int64_t usable(const Text& prompt) {
    for (Entry& entry : entries_) {
      entry.agrees = agreement(entry.text, prompt);
    }
    for (int64_t length = prompt.size() - 1; length > 0; --length) {
      if (possible(prompt, length)) {
        return length;
      }
    }
    return 0;
  }

 private:
  /// How many leading positions of both hold the same.
  static int64_t agreement(const Text& a, const Text& b) {
    const auto one = stamps(a, {});
    const auto two = stamps(b, {});
    return std::mismatch(one.begin(), one.end(), two.begin(), two.end()).first -
        one.begin();
  }
  static std::vector<BidirectionalSpan>
  spans(const Text& prompt, int64_t upto) {
    std::vector<BidirectionalSpan> result;
    for (const TokenMark& mark : prompt.marks) {
      if (mark.bidirectional && mark.end.get() <= upto) {
        result.push_back({mark.begin, mark.end});
      }
    }
    return result;
  }
  bool has(int64_t block, ImageSlot slot, int64_t length) const {
    const int64_t end = std::min((block + 1) * kBlockTokens, length);
    return std::ranges::any_of(entries_, [&](const Entry& entry) {
      return entry.block == block && entry.slot == slot && entry.end >= end &&
          entry.agrees >= end;
    });
  }
  /// A query at `length` sees a position of the block or goes into it, or it
  /// holds sinks.
  static bool needed(const GroupRule& rule, int64_t block, int64_t length) {
    const int64_t begin = block * kBlockTokens;
    for (int64_t p = begin; p < std::min(begin + kBlockTokens, length); ++p) {
      if (rule.window == 0 || p > length - rule.window) {
        return true;
      }
    }
    return begin < rule.sinks || length < begin + kBlockTokens;
  }
  bool in_phase(size_t group, int64_t phase, const Text& prompt, int64_t length)
      const {
    try {
      Chain::restored(
          {rules_[group]},
          kBlockTokens,
          {Position(length), {phase}, spans(prompt, length)});
      return true;
    } catch (const Error&) {
      return false;
    }
  }
  bool group_possible(size_t group, const Text& prompt, int64_t length) const {
    const GroupRule& rule = rules_[group];
    for (int32_t phase = 0; phase < rule.phases(); ++phase) {
      if (!in_phase(group, phase, prompt, length)) {
        continue;
      }
      bool all = true;
      for (int64_t block = 0; block * kBlockTokens < length && all; ++block) {
        all = !needed(rule, block, length) ||
            has(block, {static_cast<int32_t>(group), phase}, length);
      }
      if (all) {
        return true;
      }
    }
    return false;
  }
  bool possible(const Text& prompt, int64_t length) const {
    for (const TokenMark& mark : prompt.marks) {
      if (mark.bidirectional && mark.begin.get() < length &&
          length < mark.end.get()) {
        return false;
      }
    }
    for (size_t group = 0; group < rules_.size(); ++group) {
      if (!group_possible(group, prompt, length)) {
        return false;
      }
    }
    return true;
  }

  std::vector<GroupRule> rules_;
  std::vector<Entry> entries_;
};

} // namespace holdfast
