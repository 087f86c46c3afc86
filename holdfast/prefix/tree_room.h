// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to prefix/: who makes room in RAM for whom (docs/prefix.md).
//
// A chat's pressure is rank x bytes / (cost x 2^priority): its place in the
// order of last use, what it holds in RAM beside the others, and what its leaf
// costs to compute again. First goes what the disk has as well, then leaves,
// each time of the chat with the highest pressure. Under the tree's lock, for
// one call.

#pragma once

#include <optional>
#include <queue>

#include "holdfast/objects/ram_user.h"
#include "holdfast/prefix/tree_core.h"

namespace holdfast {

/// What a token there costs to compute, where one at position 0 is 1: deep ones
/// cost more, because attention does.
double dearer_at(Position end);

class TreeRoom {
 public:
  TreeRoom(TreeCore& tree, EvictedBy by) : tree_(tree), by_(by) {}

  /// Makes place for `more` bytes in the budget. False where others would have
  /// to give what is within their share: then the newcomer stays out. above:
  /// the node below which, or into which, they come; it stays.
  bool make(Bytes more, Node& above);
  /// Lets go until the tree has at most so many bytes, where it can.
  void shrink_to(Bytes until);
  /// What would leave first, whatever asks; now: the last use.
  std::optional<LeavingRam> next(uint64_t now);
  /// What may leave, leaves before parents, as far as `most`.
  Bytes may_leave(Bytes most) const;

 private:
  enum class Take { kBacked, kAny };
  struct Candidate {
    double pressure;
    int64_t rank;
    Node* leaf;
    bool operator<(const Candidate& other) const {
      return pressure < other.pressure;
    }
  };
  /// Takes while a pressure is above `least`; nothing of `own`.
  void take(Take what, Bytes until, double least, const Chat* own);
  void take_one(const Candidate& from, Node& victim, Take what);
  void rank_chats(Take what, const Chat* own);
  void add(Node& leaf, int64_t rank);
  static Node* victim(Node& leaf, Take what);
  bool fits(Bytes until) const {
    return tree_.bytes() <= until;
  }

  TreeCore& tree_;
  EvictedBy by_;
  std::priority_queue<Candidate> candidates_;
};

} // namespace holdfast
