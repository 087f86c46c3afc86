// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Chains, where rows enter their next precision phase, and the bytes of it.

#include <algorithm>
#include <set>
#include <utility>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/block/layout.h"
#include "holdfast/plan/chains.h"

namespace holdfast {

/// Live bytes as begin changes them, in its order, from 0.
class Chains::Growth {
 public:
  void take(Bytes bytes) {
    now_ += bytes;
    peak_ = std::max(peak_, now_);
  }
  void give(Bytes bytes) {
    now_ -= bytes;
  }
  Bytes peak() const {
    return peak_;
  }
  /// False where this block's conversion to that kind was counted already.
  bool first_time(const BlockRef& block, int64_t kind) {
    return converted_.insert({block.image(), kind}).second;
  }

 private:
  Bytes now_;
  Bytes peak_;
  std::set<std::pair<const std::byte*, int64_t>> converted_;
};

void Chains::count_conversion(
    const Row& row,
    const Converted& done,
    Growth& growth) const {
  for (int64_t group = 0; group < groups(); ++group) {
    const int64_t to = row.chain.due_phase(group);
    const int64_t target = kind(group, to);
    const auto& blocks = row.blocks[static_cast<size_t>(group)];
    for (size_t b = 0; b < blocks.size(); ++b) {
      const BlockRef& block = blocks[b];
      if (!block || block.kind() == target) {
        continue;
      }
      const bool full =
          BlockIndex(static_cast<int64_t>(b)) < row.chain.sealed_end();
      const bool known = full &&
          (done.contains({block.image(), target}) ||
           !growth.first_time(block, target));
      if (!known) {
        const int64_t from = phase_of_kind(group, block.kind());
        const Bytes made = pool_.image_bytes(target);
        const Bytes most = beside_conversion(group, from, to);
        growth.take(most);
        growth.give(most - made);
      }
      // What others share stays; who they are may change until it is dropped.
      if (!block.shared()) {
        growth.give(block.bytes());
      }
    }
  }
}

Bytes Chains::beside_conversion(int64_t group, int64_t from, int64_t to) const {
  Bytes most;
  Bytes before; // of the phase between, until the next one is made
  for (int64_t phase = from + 1; phase <= to; ++phase) {
    const Bytes made = pool_.image_bytes(kind(group, phase));
    most = std::max(most, before + made);
    before = made;
  }
  return most;
}

BlockRef
Chains::known_in(const BlockRef& block, int64_t group, int64_t phase) const {
  if (BlockRef direct = pool_.successor(block, kind(group, phase))) {
    return direct;
  }
  BlockRef at = block;
  for (int64_t next = phase_of_kind(group, block.kind()) + 1;
       at && next <= phase;
       ++next) {
    at = pool_.successor(at, kind(group, next));
  }
  return at;
}

Chains::Converted Chains::known_for(std::span<const RowAppend> appends) const {
  Converted result;
  for (const RowAppend& append : appends) {
    const Row& row = at(append.row);
    const auto full = static_cast<size_t>(row.chain.sealed_end().get());
    for (int64_t group = 0; row.chain.due() && group < groups(); ++group) {
      const int64_t to = row.chain.due_phase(group);
      const int64_t target = kind(group, to);
      const auto& blocks = row.blocks[static_cast<size_t>(group)];
      for (size_t b = 0; b < std::min(full, blocks.size()); ++b) {
        if (!blocks[b] || blocks[b].kind() == target) {
          continue;
        }
        if (BlockRef known = known_in(blocks[b], group, to)) {
          result.try_emplace({blocks[b].image(), target}, std::move(known));
        }
      }
    }
  }
  return result;
}

Bytes Chains::bytes_needed(std::span<const RowAppend> appends) const {
  batch_.require_appendable(appends);
  // Held here as in begin, they are shared: no row that drops one frees it.
  return growth_of(appends, known_for(appends));
}

Bytes Chains::growth_of(
    std::span<const RowAppend> appends,
    const Converted& done) const {
  Growth growth;
  for (const RowAppend& append : appends) {
    count_conversion(at(append.row), done, growth);
  }
  for (const RowAppend& append : appends) {
    for (int64_t group = 0; group < groups(); ++group) {
      const auto [first, end] = new_blocks(append, group);
      const int64_t phase = at(append.row).chain.due_phase(group);
      growth.take(
          Bytes((end - first) * pool_.image_bytes(kind(group, phase)).get()));
    }
  }
  return growth.peak();
}

// Through every phase on the way, also where a span over several starts skips
// one: what a block holds in a phase is then the same in every text.
BlockRef Chains::converted(
    const Row& row,
    int64_t group,
    int64_t block,
    Converted& done) {
  const BlockRef& source =
      row.blocks[static_cast<size_t>(group)][static_cast<size_t>(block)];
  const int64_t to = row.chain.due_phase(group);
  const bool full = BlockIndex(block) < row.chain.sealed_end();
  if (full) {
    const auto known = done.find({source.image(), kind(group, to)});
    if (known != done.end()) {
      return known->second;
    }
  }
  BlockRef at = source;
  BlockRef origin = source; // the last that stays when this is done
  for (int64_t phase = phase_of_kind(group, source.kind()) + 1; phase <= to;
       ++phase) {
    if (full && phase < to) {
      if (BlockRef known = pool_.successor(at, kind(group, phase))) {
        at = origin = std::move(known);
        continue;
      }
    }
    BlockRef target = pool_.allocate(kind(group, phase));
    convert_(
        {.group = group,
         .from = phase - 1,
         .to = phase,
         .source = at.image(),
         .target = target.mutable_image(),
         .slots =
             full ? kBlockTokens : row.chain.committed().get() % kBlockTokens});
    target.made_of(at);
    at = std::move(target);
  }
  if (full) {
    at.seal();
    pool_.remember_successor(origin, at);
    done.try_emplace({source.image(), kind(group, to)}, at);
  }
  return at;
}

void Chains::convert(Row& row, Converted& done) {
  for (int64_t group = 0; group < groups(); ++group) {
    const int64_t target = kind(group, row.chain.due_phase(group));
    auto& blocks = row.blocks[static_cast<size_t>(group)];
    for (size_t b = 0; b < blocks.size(); ++b) {
      if (blocks[b] && blocks[b].kind() != target) {
        const BlockIndex index(static_cast<int64_t>(b));
        BlockRef target_block = converted(row, group, index.get(), done);
        if (row.keeps_sealed && index < row.chain.sealed_end()) {
          row.sealed.push_back(
              {group, row.chain.due_phase(group), index, target_block});
        }
        blocks[b] = std::move(target_block);
        row.chain.begin_due_phase(group);
      }
    }
    row.chain.enter_due_phase(group);
  }
}

} // namespace holdfast
