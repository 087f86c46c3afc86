// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/rows/chain.h"

#include <algorithm>
#include <string>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"

namespace holdfast {

int64_t HeldBlocks::count() const {
  const BlockIndex leading = std::min(pinned, end);
  const BlockIndex rest = std::max(first, leading);
  return (leading + (end - std::min(rest, end))).get();
}

Chain::Chain(const std::vector<Retention>& groups, int64_t block_tokens)
    : block_tokens_(block_tokens) {
  expect(
      !groups.empty() && block_tokens > 0,
      "[chain] expected a group and a block size, got none");
  for (const Retention& retention : groups) {
    expect(
        retention.window >= 0 && retention.sinks >= 0,
        "[chain] expected a window and sinks >= 0, got a negative one");
    groups_.push_back({retention, BlockIndex(0)});
  }
}

BlockIndex Chain::pinned(const Group& group) const {
  return BlockIndex(ceil_div(group.retention.sinks, block_tokens_));
}

HeldBlocks Chain::held(int64_t group) const {
  const Group& of = groups_.at(static_cast<size_t>(group));
  return {
      .pinned = pinned(of),
      .first = of.first,
      .end = BlockIndex(ceil_div(written_.get(), block_tokens_))};
}

BlockIndex Chain::sealed_end() const {
  return BlockIndex(committed_.get() / block_tokens_);
}

Position Chain::reusable_floor() const {
  int64_t floor = 0;
  for (const Group& group : groups_) {
    if (group.first > pinned(group)) {
      // The query at position p sees p - window + 1 and later ones.
      floor = std::max(
          floor,
          group.first.get() * block_tokens_ + group.retention.window - 1);
    }
  }
  return Position(floor);
}

void Chain::append(int64_t count) {
  const Position room = kMaxPositions - written_;
  if (count < 1 || Position(count) > room) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[chain] expected to append 1 to " + std::to_string(room.get()) +
            " positions, got " + std::to_string(count));
  }
  written_ += Position(count);
}

void Chain::commit(int64_t accepted) {
  const int64_t tentative = (written_ - committed_).get();
  if (accepted < 0 || accepted > tentative) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[chain] expected to commit 0 to " + std::to_string(tentative) +
            " positions, got " + std::to_string(accepted));
  }
  committed_ += Position(accepted);
  written_ = committed_;
  for (Group& group : groups_) {
    // A block goes when its last position is < committed - window. So position
    // committed - window stays, one more than the next query sees: the last
    // token can be computed again.
    const int64_t behind = committed_.get() - group.retention.window;
    if (group.retention.window > 0 && behind > 0) {
      group.first = std::max(group.first, BlockIndex(behind / block_tokens_));
    }
  }
}

void Chain::rollback() {
  written_ = committed_;
}

void Chain::trim(Position to) {
  if (written_ != committed_) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[chain] expected a trim between steps, got one within a step");
  }
  if (to < Position(0) || to > committed_) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[chain] expected to keep 0 to " + std::to_string(committed_.get()) +
            " positions, got " + std::to_string(to.get()));
  }
  if (to == Position(0)) {
    for (Group& group : groups_) {
      group.first = BlockIndex(0);
    }
  } else if (to < reusable_floor()) {
    throw Error(
        ErrorCode::kUnsupported,
        "[chain] expected to keep 0 or at least " +
            std::to_string(reusable_floor().get()) +
            " positions, because earlier ones left a window, got " +
            std::to_string(to.get()));
  }
  committed_ = written_ = to;
}

} // namespace holdfast
