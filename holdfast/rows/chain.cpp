// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/rows/chain.h"

#include <algorithm>
#include <string>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"

namespace holdfast {

namespace {

std::string text(Position begin, Position end) {
  return "[" + std::to_string(begin.get()) + ", " + std::to_string(end.get()) +
      ")";
}

} // namespace

Chain::Chain(const std::vector<GroupRule>& groups, int64_t block_tokens)
    : block_tokens_(block_tokens) {
  expect(
      !groups.empty() && block_tokens > 0,
      "[chain] expected a group and a block size, got none");
  for (const GroupRule& rule : groups) {
    expect(
        rule.window >= 0 && rule.window <= kMaxPositions.get() &&
            rule.sinks >= 0 && rule.sinks <= kMaxPositions.get() &&
            rule.keep_every >= 0,
        "[chain] expected a window and sinks from 0 to 2147483647 and "
        "keep_every >= 0, got others");
    Position before(0);
    for (const Position start : rule.starts) {
      expect(
          start > before,
          "[chain] expected phases that start at 1 or later and rise, got "
          "others");
      before = start;
    }
    groups_.push_back({.rule = rule, .first = BlockIndex(0)});
  }
}

BlockIndex Chain::pinned(const Group& group) const {
  return BlockIndex(ceil_div(group.rule.sinks, block_tokens_));
}

HeldBlocks Chain::held(const Group& group) const {
  return {
      .pinned = pinned(group),
      .first = group.first,
      .end = BlockIndex(ceil_div(written_.get(), block_tokens_)),
      .kept = group.kept};
}

BlockIndex Chain::sealed_end() const {
  return BlockIndex(committed_.get() / block_tokens_);
}

int64_t Chain::due_phase(int64_t group) const {
  return groups_.at(static_cast<size_t>(group)).rule.phase_at(committed_);
}

bool Chain::due() const {
  for (int64_t group = 0; group < groups(); ++group) {
    if (due_phase(group) != phase(group)) {
      return true;
    }
  }
  return false;
}

BlockIndex Chain::window_begin(const Group& group, Position length) const {
  // The query at position p sees p - window + 1 and later ones.
  const int64_t window = group.rule.window;
  return window > 0
      ? BlockIndex(
            std::max<int64_t>(0, length.get() - window + 1) / block_tokens_)
      : BlockIndex(0);
}

Position Chain::window_floor(const Group& group) const {
  const int64_t gap = held(group).last_gap().get();
  return gap >= 0 ? Position((gap + 1) * block_tokens_ + group.rule.window - 1)
                  : Position(0);
}

Position Chain::phase_floor(const Group& group) {
  return group.begun == 0
      ? Position(0)
      : group.rule.starts[static_cast<size_t>(group.begun - 1)];
}

Position Chain::reusable_floor() const {
  Position floor = least_;
  for (const Group& group : groups_) {
    floor = std::max({floor, window_floor(group), phase_floor(group)});
  }
  // Besides 0, so 1 where nothing else holds it.
  const auto* cut = span_cut_at(spans_, std::max(floor, Position(1)));
  return cut ? cut->end : floor;
}

Position Chain::limit(const Group& group, Position length) const {
  if (length < std::max(phase_floor(group), least_)) {
    return Position(0);
  }
  const BlockIndex begin = window_begin(group, length);
  if (begin >= group.first) {
    return length;
  }
  const HeldBlocks blocks = held(group);
  for (BlockIndex block((length.get() - 1) / block_tokens_); block >= begin;
       block -= BlockIndex(1)) {
    if (!blocks.holds(block)) {
      return Position(block.get() * block_tokens_);
    }
  }
  return length;
}

Position Chain::reusable_length(Position most) const {
  Position length = std::min(most, committed_);
  while (length > Position(0)) {
    const auto* cut = span_cut_at(spans_, length);
    Position shorter = cut ? cut->begin : length;
    for (const Group& group : groups_) {
      shorter = std::min(shorter, limit(group, shorter));
    }
    if (shorter == length) {
      return length;
    }
    length = shorter;
  }
  return Position(0);
}

Position Chain::next_start() const {
  Position next = kMaxPositions;
  for (const Group& group : groups_) {
    const auto phase = static_cast<size_t>(group.rule.phase_at(committed_));
    if (phase < group.rule.starts.size()) {
      next = std::min(next, group.rule.starts[phase]);
    }
  }
  return next;
}

Position Chain::append_end(BidirectionalSpans spans) const {
  const Position end = next_start();
  const auto* cut = span_cut_at(spans, end);
  return cut ? std::min(cut->end, kMaxPositions) : end;
}

int64_t Chain::max_append(BidirectionalSpans spans) const {
  return (append_end(spans) - committed_).get();
}

int64_t Chain::fit_append(int64_t wanted, BidirectionalSpans spans) const {
  expect(wanted >= 1, "[chain] expected to fit 1 position or more, got less");
  expect(
      !span_cut_at(spans, committed_),
      "[chain] expected the committed positions to cut no bidirectional span, "
      "got one that they cut");
  const Position end =
      committed_ + Position(std::min(wanted, max_append(spans)));
  const auto* cut = span_cut_at(spans, end);
  if (!cut) {
    return (end - committed_).get();
  }
  return ((cut->begin > committed_ ? cut->begin : cut->end) - committed_).get();
}

void Chain::begin_due_phase(int64_t group) {
  ensure(
      written_ == committed_,
      "[chain] expected a conversion between steps, got one within a step");
  groups_.at(static_cast<size_t>(group)).begun = due_phase(group);
}

void Chain::enter_due_phase(int64_t group) {
  begin_due_phase(group);
  Group& of = groups_[static_cast<size_t>(group)];
  of.phase = of.begun;
}

void Chain::require_spans(int64_t count, BidirectionalSpans spans) const {
  const Position end = written_ + Position(count);
  if (const auto* span = misplaced_span(spans, written_, end)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[chain] expected bidirectional spans whole and in order within the "
        "appended positions " +
            text(written_, end) + ", got " + text(span->begin, span->end));
  }
}

void Chain::append(int64_t count, BidirectionalSpans spans) {
  const Position end = append_end(spans);
  const Position room = std::max(end, written_) - written_;
  if (count < 1 || Position(count) > room) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[chain] expected to append 1 to " + std::to_string(room.get()) +
            " positions" +
            (end < kMaxPositions ? ", up to position " +
                     std::to_string(end.get()) + ", where the precision changes"
                                 : "") +
            ", got " + std::to_string(count));
  }
  require_spans(count, spans);
  reserve_kept(count);
  tentative_.insert(tentative_.end(), spans.begin(), spans.end());
  spans_.reserve(spans_.size() + tentative_.size()); // for commit
  written_ += Position(count);
}

void Chain::reserve_kept(int64_t count) {
  const BlockIndex end((written_.get() + count) / block_tokens_);
  for (Group& group : groups_) {
    const int64_t more = group.rule.kept_of(group.first, end);
    group.kept.reserve(group.kept.size() + static_cast<size_t>(more));
  }
}

void Chain::require_accepted(int64_t accepted) const {
  const int64_t tentative = (written_ - committed_).get();
  if (accepted < 0 || accepted > tentative) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[chain] expected to commit 0 to " + std::to_string(tentative) +
            " positions, got " + std::to_string(accepted));
  }
  if (const auto* cut =
          span_cut_at(tentative_, committed_ + Position(accepted))) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[chain] expected to commit the bidirectional span " +
            text(cut->begin, cut->end) + " whole or not at all, got " +
            std::to_string(accepted) + " positions from " +
            std::to_string(committed_.get()) + " on");
  }
}

void Chain::commit(int64_t accepted) {
  require_accepted(accepted);
  committed_ += Position(accepted);
  written_ = committed_;
  for (const BidirectionalSpan& span : tentative_) {
    if (span.end <= committed_) {
      spans_.push_back(span);
    }
  }
  tentative_.clear();
  for (Group& group : groups_) {
    release(group);
  }
}

void Chain::release(Group& group) const {
  const GroupRule& rule = group.rule;
  const BlockIndex first = rule.first_held(committed_, block_tokens_);
  if (rule.keep_every > 0) {
    const BlockIndex from = std::max(group.first, pinned(group));
    for (BlockIndex block = rule.next_kept(from); block < first;
         block += BlockIndex(rule.keep_every)) {
      group.kept.push_back(block);
    }
  }
  group.first = std::max(group.first, first);
}

void Chain::rollback() {
  written_ = committed_;
  tentative_.clear();
}

void Chain::require_reusable(Position to) const {
  for (const Group& group : groups_) {
    if (limit(group, to) == to) {
      continue;
    }
    const Position shorter = reusable_length(to);
    throw Error(
        ErrorCode::kUnsupported,
        "[chain] expected to keep 0, " +
            (shorter > Position(0) ? std::to_string(shorter.get()) + " " : "") +
            "or at least " + std::to_string(reusable_floor().get()) +
            " positions, because " +
            (to < least_ ? "others computed them, and no fewer are whole"
                 : to < phase_floor(group)
                 ? "fewer would be stored in the precision before"
                 : "earlier ones left a window") +
            ", got " + std::to_string(to.get()));
  }
  if (const auto* cut = span_cut_at(spans_, to)) {
    throw Error(
        ErrorCode::kUnsupported,
        "[chain] expected to keep the bidirectional span " +
            text(cut->begin, cut->end) + " whole or not at all, got " +
            std::to_string(to.get()) + " positions");
  }
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
  if (to > Position(0)) {
    require_reusable(to);
  }
  for (Group& group : groups_) {
    // All from there on is held.
    group.first = std::min(group.first, window_begin(group, to));
    group.kept.erase(
        std::ranges::lower_bound(group.kept, group.first), group.kept.end());
    if (to == Position(0)) {
      group.phase = 0;
      group.begun = 0;
    }
  }
  least_ = to == Position(0) ? to : least_;
  while (!spans_.empty() && spans_.back().end > to) {
    spans_.pop_back();
  }
  committed_ = written_ = to;
}

void Chain::keep_by(const std::vector<GroupRule>& rules) {
  ensure(
      written_ == committed_,
      "[chain] expected new rules between steps, got some within a step");
  expect(
      std::ranges::equal(
          rules,
          groups_,
          [](const GroupRule& rule, const Group& group) {
            return group.rule.goes_on_under(rule) && rule.keep_every >= 0;
          }),
      "[chain] expected rules of the same windows, sinks and phases, got "
      "others");
  for (size_t group = 0; group < rules.size(); ++group) {
    groups_[group].rule.keep_every = rules[group].keep_every;
  }
}

} // namespace holdfast
