// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/usable_search.h"

#include <algorithm>
#include <string>

#include "holdfast/base/check.h"
#include "holdfast/plan/recurrent_spec.h"

namespace holdfast {

namespace {

constexpr int64_t kNotLooked = -1;

Position begin_of(int64_t block) {
  return Position(block * kBlockTokens);
}

int64_t last_block_of(Position length) {
  return (length.get() - 1) / kBlockTokens;
}

} // namespace

UsableSearch::UsableSearch(
    const ScopeEntry& scope,
    const PathBlocks& blocks,
    const Matched& found)
    : scope_(scope), blocks_(blocks), found_(found) {
  for (size_t group = 0; group < scope.rules.size(); ++group) {
    auto& phases = slots_.emplace_back();
    for (int64_t phase = 0; phase < scope.rules[group].phases(); ++phase) {
      Slot& slot = phases.emplace_back();
      slot.slot = {static_cast<int32_t>(group), static_cast<int32_t>(phase)};
      slot.bounds = phase_bounds(scope.rules[group], phase, blocks.spans());
      scan(slot);
    }
  }
  chosen_.resize(slots_.size());
}

void UsableSearch::scan(Slot& slot) const {
  const auto blocks = static_cast<size_t>(found_.blocks());
  slot.since.resize(blocks + 1);
  for (size_t k = 0; k < blocks; ++k) {
    const bool has = found_.nodes[k]->has(slot.slot);
    slot.since[k + 1] = has ? slot.since[k] : static_cast<int32_t>(k + 1);
    slot.leading += has && slot.leading == static_cast<int64_t>(k);
  }
  slot.at.assign(blocks + 1, {nullptr, kNotLooked});
}

const Children::Match& UsableSearch::best(Slot& slot, int64_t block) {
  Children::Match& match = slot.at[static_cast<size_t>(block)];
  if (match.run == kNotLooked) {
    const auto at = static_cast<size_t>(block);
    if (block < found_.blocks() && found_.nodes[at]->has(slot.slot)) {
      match = {found_.nodes[at], kBlockTokens};
    } else {
      const Node& parent = block == 0 ? *found_.root : *found_.nodes[at - 1];
      match = block < blocks_.count()
          ? parent.children.longest(blocks_[block], slot.slot)
          : Children::Match();
    }
  }
  return match;
}

void UsableSearch::lower(Slot& slot, int64_t block, Limit& to) {
  const Position end = begin_of(block) + Position(best(slot, block).run);
  if (end < to.length) {
    to.length = end;
    to.block = BlockIndex(block);
  }
}

UsableSearch::Limit
UsableSearch::last_block_limit(int64_t group, Position length) {
  Limit most;
  const auto at = static_cast<size_t>(group);
  if (scope_.rules[at].window == 1) {
    return {.length = length, .block = {}};
  }
  for (Slot& slot : slots_[at]) {
    Limit limit{.length = length, .block = {}};
    lower(slot, last_block_of(length), limit);
    most = limit.length > most.length ? limit : most;
  }
  return most;
}

UsableSearch::Limit
UsableSearch::limit(int64_t group, const HeldBlocks& held, Position length) {
  Limit most;
  auto& phases = slots_[static_cast<size_t>(group)];
  for (auto slot = phases.rbegin(); slot != phases.rend(); ++slot) {
    if (length < slot->bounds.least) {
      continue; // nor is any smaller one in this phase
    }
    const int64_t last = last_block_of(length);
    Limit limit{.length = length, .block = {}};
    if (held.holds(BlockIndex(last))) { // a window of one may have none
      lower(*slot, last, limit);
    }
    const int64_t since = slot->since[static_cast<size_t>(last)];
    if (since > held.first.get()) {
      lower(*slot, since - 1, limit);
    }
    if (slot->leading < std::min(held.pinned.get(), last)) {
      lower(*slot, slot->leading, limit);
    }
    if (limit.length == length && length <= slot->bounds.most) {
      limit.phase = &*slot;
      return limit;
    }
    if (limit.length == length) {
      limit.block = BlockIndex(last); // there, in a phase that is over
    }
    limit.length =
        std::min({limit.length, slot->bounds.most, length - Position(1)});
    most = limit.length > most.length ? limit : most;
  }
  return most;
}

void UsableSearch::run(Usable& result) {
  const Position most = blocks_.length() - Position(1);
  Position length = std::min(found_.length(), most);
  if (length < found_.length()) {
    result.why.gap = Why::Gap::kLastToken;
  }
  const int64_t groups = std::ssize(slots_);
  std::vector<HeldBlocks> held;
  while (length > Position(0) && groups > 0) {
    if (length < scope_.least) {
      result.why.gap = Why::Gap::kForeign;
      return;
    }
    if (const auto* cut = span_cut_at(blocks_.spans(), length)) {
      if (result.why.gap <= Why::Gap::kLastToken) {
        result.why.gap = Why::Gap::kSpan;
      }
      length = cut->begin;
      continue;
    }
    Position next = length;
    for (int64_t group = 0; group < groups && next == length; ++group) {
      const Limit limit = last_block_limit(group, length);
      next = std::min(next, limit.length);
      if (next < length) {
        note_gap(result, group, limit);
      }
    }
    if (next == length) {
      held = scope_.needs->held(length);
    }
    for (int64_t group = 0; group < groups && next == length; ++group) {
      const auto at = static_cast<size_t>(group);
      const Limit limit = this->limit(group, held[at], length);
      next = std::min(next, limit.length);
      chosen_[at] = limit.phase;
      if (next < length) {
        note_gap(result, group, limit);
      }
    }
    if (next == length) {
      result.length = length;
      assemble(result, held);
      return;
    }
    length = next;
  }
}

Why::Gap UsableSearch::gap_of(
    const Node* node,
    int64_t group,
    std::optional<Evicted>& evicted) const {
  const auto at = static_cast<size_t>(group);
  Why::Gap gap = scope_.rules[at].window == kRecurrentWindow
      ? Why::Gap::kSnapshot
      : Why::Gap::kMissing;
  if (!node) {
    return gap;
  }
  for (const Image& image : node->images) {
    if (image.slot.group != group) {
      continue;
    }
    if (image.available()) {
      return Why::Gap::kPrecision;
    }
    if (image.writing) {
      return Why::Gap::kWriting;
    }
    if (image.unreadable) {
      return Why::Gap::kUnreadable;
    }
    if (node->evicted) {
      gap = Why::Gap::kEvicted;
      evicted = node->evicted;
    }
  }
  return gap;
}

void UsableSearch::note_gap(Usable& result, int64_t group, const Limit& limit) {
  Why& why = result.why;
  if (why.gap > Why::Gap::kLastToken) {
    return; // what stood above it
  }
  const int64_t block = limit.block.get();
  const Node* node = block < found_.blocks()
      ? found_.nodes[static_cast<size_t>(block)]
      : found_.part.node;
  why.gap_group = group;
  why.gap_block = limit.block;
  why.gap = gap_of(node, group, why.gap_evicted);
}

void UsableSearch::assemble(
    Usable& result,
    const std::vector<HeldBlocks>& held) {
  const int64_t last = last_block_of(result.length);
  enum class From { kNowhere, kRam, kDisk };
  std::vector<From> from(static_cast<size_t>(last + 1), From::kNowhere);
  result.facts.committed = result.length;
  result.facts.least = scope_.least;
  for (size_t group = 0; group < slots_.size(); ++group) {
    Slot& slot = *chosen_[group];
    result.facts.phases.push_back(slot.slot.phase);
    auto& images = result.images.emplace_back();
    images.reserve(static_cast<size_t>(held[group].count()));
    for (int64_t block = 0; block <= last; ++block) {
      if (!held[group].holds(BlockIndex(block))) {
        continue;
      }
      const auto at = static_cast<size_t>(block);
      const Node& node =
          block < last ? *found_.nodes[at] : *best(slot, last).node;
      const Image& image = *node.find(slot.slot);
      UsableImage& given = images.emplace_back(UsableImage{
          .block = BlockIndex(block),
          .slot = slot.slot,
          .node = TreeCore::handle(node),
          .stored = node.stored,
          .ram = {},
          .disk = {}});
      if (image.ram) {
        given.ram = image.ram->block;
        from[at] = std::max(from[at], From::kRam);
      } else {
        given.disk = image.disk;
        from[at] = From::kDisk;
      }
    }
  }
  for (const BidirectionalSpan& span : blocks_.spans()) {
    if (span.end <= result.length) {
      result.facts.spans.push_back(span);
    }
  }
  // A block that every window has left needs no image: it counts as the first
  // one behind it that needs some.
  From of = From::kRam;
  for (int64_t block = last; block >= 0; --block) {
    const From own = from[static_cast<size_t>(block)];
    of = own == From::kNowhere ? of : own;
    const Position end = std::min(begin_of(block + 1), result.length);
    (of == From::kDisk ? result.why.from_disk : result.why.from_ram) +=
        end - begin_of(block);
  }
}

} // namespace holdfast
