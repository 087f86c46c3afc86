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
  /// False where this block's conversion was counted already.
  bool first_time(const BlockRef& block) {
    return converted_.insert(block.image()).second;
  }

 private:
  Bytes now_;
  Bytes peak_;
  std::set<const std::byte*> converted_;
};

void Chains::count_conversion(const Row& row, Growth& growth) const {
  for (int64_t group = 0; group < groups(); ++group) {
    const int64_t target = kind(group, row.chain.due_phase(group));
    const auto& blocks = row.blocks[static_cast<size_t>(group)];
    for (size_t b = 0; b < blocks.size(); ++b) {
      const BlockRef& block = blocks[b];
      if (!block || block.kind() == target) {
        continue;
      }
      const bool full =
          BlockIndex(static_cast<int64_t>(b)) < row.chain.sealed_end();
      const bool known =
          full && (pool_.successor(block, target) || !growth.first_time(block));
      if (!known) {
        growth.take(pool_.image_bytes(target));
      }
      // What others share stays; who they are may change until it is dropped.
      if (!block.shared()) {
        growth.give(block.bytes());
      }
    }
  }
}

std::vector<BlockRef>
Chains::successors(std::span<const RowAppend> appends) const {
  std::vector<BlockRef> result;
  for (const RowAppend& append : appends) {
    const Row& row = at(append.row);
    const auto full = static_cast<size_t>(row.chain.sealed_end().get());
    for (int64_t group = 0; row.chain.due() && group < groups(); ++group) {
      const int64_t target = kind(group, row.chain.due_phase(group));
      const auto& blocks = row.blocks[static_cast<size_t>(group)];
      for (size_t b = 0; b < std::min(full, blocks.size()); ++b) {
        if (!blocks[b] || blocks[b].kind() == target) {
          continue;
        }
        if (BlockRef known = pool_.successor(blocks[b], target)) {
          result.push_back(std::move(known));
        }
      }
    }
  }
  return result;
}

Bytes Chains::bytes_needed(std::span<const RowAppend> appends) const {
  batch_.require_appendable(appends);
  // Held here as in begin, they are shared: no row that drops one frees it.
  const std::vector<BlockRef> known = successors(appends);
  return growth_of(appends);
}

Bytes Chains::growth_of(std::span<const RowAppend> appends) const {
  Growth growth;
  for (const RowAppend& append : appends) {
    count_conversion(at(append.row), growth);
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

BlockRef Chains::converted(const Row& row, int64_t group, int64_t block) {
  const BlockRef& source =
      row.blocks[static_cast<size_t>(group)][static_cast<size_t>(block)];
  const int64_t to = row.chain.due_phase(group);
  const bool full = BlockIndex(block) < row.chain.sealed_end();
  if (full) {
    if (BlockRef known = pool_.successor(source, kind(group, to))) {
      return known;
    }
  }
  BlockRef target = pool_.allocate(kind(group, to));
  convert_(
      {.group = group,
       .from = phase_of_kind(group, source.kind()),
       .to = to,
       .source = source.image(),
       .target = target.mutable_image(),
       .slots =
           full ? kBlockTokens : row.chain.committed().get() % kBlockTokens});
  target.made_of(source);
  if (full) {
    target.seal();
    pool_.remember_successor(source, target);
  }
  return target;
}

void Chains::convert(Row& row) {
  for (int64_t group = 0; group < groups(); ++group) {
    const int64_t target = kind(group, row.chain.due_phase(group));
    auto& blocks = row.blocks[static_cast<size_t>(group)];
    for (size_t b = 0; b < blocks.size(); ++b) {
      if (blocks[b] && blocks[b].kind() != target) {
        const BlockIndex index(static_cast<int64_t>(b));
        BlockRef target_block = converted(row, group, index.get());
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
