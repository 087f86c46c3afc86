// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A prefix index of many blocks, to measure lookups in: chats of random tokens
// whose first block sixteen share, on disk as after a restart, of two layer
// groups, one with a window of 512. And the trial that looks prompts up. One
// thread.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "holdfast/prefix/prefix_tree.h"

namespace holdfast::measure {

struct LookupShape {
  int64_t blocks = 0; // of all chats together, about: whole chats are made
  int64_t chat_blocks = 0; // of one
};

class LookupIndex {
 public:
  /// progress(done, total): blocks; it may throw, which ends the making.
  LookupIndex(
      const LookupShape& shape,
      const std::function<void(int64_t, int64_t)>& progress);

  int64_t chats() const {
    return chats_;
  }
  int64_t chat_blocks() const {
    return chat_blocks_;
  }
  /// The tokens of a chat, and one more that nobody knows.
  std::vector<int32_t> tokens(int64_t chat) const;
  Usable look_up(std::span<const int32_t> prompt) {
    return tree_.usable(scope_, {.tokens = prompt});
  }
  TreeStats stats() const {
    return tree_.stats();
  }
  /// Fills the processor's caches with something else.
  void cool();

 private:
  PrefixTree tree_;
  ScopeHandle scope_;
  int64_t chats_;
  int64_t chat_blocks_;
  std::vector<uint64_t> other_;
};

/// Lookups of prompts that agree with a chat in so many blocks, of which no
/// cache of the processor has anything when a turn begins.
class LookupTrial {
 public:
  /// What comes behind the blocks that agree.
  enum class End {
    kPrompt, // one token
    kDiffers, // as long as the chat, with another token in the next block
  };

  LookupTrial(LookupIndex& index, int64_t matched, End end);

  /// Looks each prompt up once. Throws kInternal where an answer is wrong.
  void turn();

  /// Seconds of a lookup, over all turns: half of them took no longer, or 99
  /// of 100.
  double median() const {
    return quantile(0.5);
  }
  double p99() const {
    return quantile(0.99);
  }

 private:
  double quantile(double part) const;

  LookupIndex& index_;
  Position expected_;
  std::vector<std::vector<int32_t>> prompts_;
  mutable std::vector<double> seconds_;
};

} // namespace holdfast::measure
