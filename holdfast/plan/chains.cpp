// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/plan/chains.h"

#include <algorithm>
#include <string>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/block/layout.h"

namespace holdfast {

Chains::Chains(
    BlockPool& pool,
    std::vector<GroupRule> rules,
    BlockConverter convert,
    TailBlanker blank)
    : pool_(pool),
      rules_(std::move(rules)),
      convert_(std::move(convert)),
      blank_(std::move(blank)) {
  const Chain checked(rules_, kBlockTokens); // refuses wrong rules
  int64_t kinds = 0;
  for (const GroupRule& rule : rules_) {
    first_kind_.push_back(kinds);
    kinds += rule.phases();
    expect(
        rule.starts.empty() || convert_ != nullptr,
        "[chains] expected a converter for rows that change their precision");
  }
  expect(
      pool.kinds() == kinds,
      "[chains] expected an image kind a layer group and phase, got another "
      "number");
}

Chains::~Chains() {
  if (open_) {
    open_->chains_ = nullptr;
  }
}

void Chains::require_no_step(const char* where) const {
  if (open_) {
    throw Error(
        ErrorCode::kInvalidArgument,
        std::string(where) + " expected no open step, got step " +
            std::to_string(open_generation()));
  }
}

uint64_t Chains::open_generation() const {
  return open_ ? open_->generation_ : 0;
}

const Chains::Row& Chains::at(RowId row) const {
  batch_.require_distinct({&row, 1}, "[chains]");
  return *rows_[row.slot];
}

Chains::Row& Chains::at(RowId row) {
  return const_cast<Row&>(std::as_const(*this).at(row));
}

RowId Chains::add() {
  require_no_step("[chains.add]");
  return add(
      {Chain(rules_, kBlockTokens),
       std::vector<std::vector<BlockRef>>(rules_.size())});
}

void Chains::reserve(size_t more) {
  rows_.reserve(rows_.size() + more);
  batch_.reserve(more);
}

RowId Chains::add(Row row) {
  reserve(1); // so that nothing throws behind Batch::add
  const RowId id = batch_.add();
  if (id.slot == rows_.size()) {
    rows_.emplace_back();
  }
  rows_[id.slot].emplace(std::move(row));
  return id;
}

bool Chains::remove(RowId row) {
  require_no_step("[chains.remove]");
  if (!batch_.contains(row)) {
    return false;
  }
  batch_.remove(row);
  rows_[row.slot].reset();
  return true;
}

void Chains::filter(std::span<const RowId> keep) {
  require_no_step("[chains.filter]");
  batch_.require_distinct(keep, "[chains.filter]");
  const std::vector<RowId> kept(keep.begin(), keep.end()); // may be order()
  const std::vector<RowId> all(order().begin(), order().end());
  for (const RowId row : all) {
    if (std::find(kept.begin(), kept.end(), row) == kept.end()) {
      remove(row);
    }
  }
  batch_.reorder(kept);
}

void Chains::reorder(std::span<const RowId> order) {
  require_no_step("[chains.reorder]");
  batch_.reorder(order);
}

void Chains::trim(RowId row, Position to) {
  require_no_step("[chains.trim]");
  Row& of = at(row);
  of.chain.trim(to);
  std::erase_if(of.sealed, [&](const SealedBlock& sealed) {
    return sealed.index >= of.chain.sealed_end();
  });
  follow(of);
}

const Chain& Chains::chain(RowId row) const {
  return at(row).chain;
}

std::span<const BlockRef> Chains::blocks(RowId row, int64_t group) const {
  return at(row).blocks.at(static_cast<size_t>(group));
}

Bytes Chains::retained_bytes(RowId row) const {
  return block_bytes(at(row).blocks);
}

bool Chains::intact(RowId row) const {
  return std::ranges::all_of(at(row).blocks, [](const auto& blocks) {
    return std::ranges::all_of(
        blocks, [](const BlockRef& block) { return !block || block.intact(); });
  });
}

bool Chains::copies_tail(const Row& row, int64_t group) const {
  const auto& blocks = row.blocks[static_cast<size_t>(group)];
  // A sealed tail was trimmed or captured; a conversion leaves it open.
  return row.chain.sealed_end() < BlockIndex(std::ssize(blocks)) &&
      blocks.back().sealed() &&
      blocks.back().kind() == kind(group, row.chain.due_phase(group));
}

Chains::NewBlocks
Chains::new_blocks(const RowAppend& append, int64_t group) const {
  const Row& row = at(append.row);
  const auto& blocks = row.blocks[static_cast<size_t>(group)];
  Chain after = row.chain;
  after.append(append.count, append.spans);
  const int64_t tail = copies_tail(row, group) ? 1 : 0;
  return {
      .first = std::ssize(blocks) - tail, .end = after.held(group).end.get()};
}

std::vector<BlockPlacement>
Chains::placements(std::span<const RowAppend> appends) const {
  std::vector<BlockPlacement> result;
  for (const RowAppend& append : appends) {
    for (int64_t group = 0; group < groups(); ++group) {
      const auto [first, end] = new_blocks(append, group);
      for (int64_t block = first; block < end; ++block) {
        result.push_back(
            {.slot = append.row.slot,
             .group = group,
             .block = BlockIndex(block),
             .placed = false,
             .other = {}});
      }
    }
  }
  return result;
}

Transaction Chains::begin(std::span<const RowAppend> appends) {
  require_no_step("[chains.begin]");
  batch_.require_appendable(appends);
  // Rows converted first, and other threads, may drop what later rows find.
  Converted done = known_for(appends);
  pool_.require(growth_of(appends, done));
  for (const RowAppend& append : appends) {
    convert(at(append.row), done);
    reserve_sealed(append);
  }
  std::vector<BlockPlacement> fresh = placements(appends);
  for (BlockPlacement& placement : fresh) {
    const auto& blocks =
        rows_[placement.slot]->blocks[static_cast<size_t>(placement.group)];
    const auto block = static_cast<size_t>(placement.block.get());
    placement.other = block < blocks.size()
        ? pool_.copy(blocks[block])
        : pool_.allocate(kind(
              placement.group,
              rows_[placement.slot]->chain.phase(placement.group)));
  }
  Transaction step(*this, appends, std::move(fresh));
  step.place();
  return step;
}

void Chains::follow(Row& row) const noexcept {
  const BlockIndex sealed_end = row.chain.sealed_end();
  for (size_t group = 0; group < row.blocks.size(); ++group) {
    auto& blocks = row.blocks[group];
    const HeldBlocks held = row.chain.held(static_cast<int64_t>(group));
    const auto end = static_cast<size_t>(held.end.get());
    if (blocks.size() > end) {
      blocks.erase(blocks.begin() + held.end.get(), blocks.end());
    }
    // Both walks go down to what an earlier call did already.
    int64_t open = sealed_end.get();
    for (; open > 0; --open) {
      const BlockRef& full = blocks[static_cast<size_t>(open - 1)];
      if (!full || full.sealed()) {
        break;
      }
      full.seal();
    }
    for (; row.keeps_sealed && open < sealed_end.get(); ++open) {
      const BlockRef& full = blocks[static_cast<size_t>(open)];
      const auto of = static_cast<int64_t>(group);
      row.sealed.push_back(
          {of, phase_of_kind(of, full.kind()), BlockIndex(open), full});
    }
    for (int64_t block = held.last_gap().get(); block >= held.pinned.get();
         --block) {
      if (held.holds(BlockIndex(block))) {
        continue; // kept
      }
      BlockRef& behind = blocks[static_cast<size_t>(block)];
      if (!behind) {
        break;
      }
      behind = BlockRef();
    }
  }
}

void Chains::check_block(const Row& row, int64_t group, int64_t index) const {
  const BlockRef& block =
      row.blocks[static_cast<size_t>(group)][static_cast<size_t>(index)];
  ensure(
      static_cast<bool>(block) ==
          row.chain.held(group).holds(BlockIndex(index)),
      "[chains] expected the blocks that the chain holds, got others");
  if (!block) {
    return;
  }
  // A conversion that was broken off leaves some blocks in the due phase.
  const int64_t phase = phase_of_kind(group, block.kind());
  ensure(
      phase == row.chain.phase(group) || phase == row.chain.due_phase(group),
      "[chains] expected images of the group's phase, got another kind");
  ensure(
      block.bytes() == pool_.image_bytes(block.kind()),
      "[chains] expected images of this pool's sizes, got others");
  ensure(
      BlockIndex(index) >= row.chain.sealed_end() || block.sealed(),
      "[chains] expected full blocks sealed, got an open one");
  ensure(
      block.sealed() || !block.shared(),
      "[chains] expected open blocks with one owner, got a shared one");
}

void Chains::check_row(const Row& row) const {
  const Chain& chain = row.chain;
  ensure(
      chain.groups() == groups() && chain.committed() >= Position(0) &&
          chain.committed() <= chain.written() &&
          (open_ || chain.committed() == chain.written()),
      "[chains] expected 0 <= committed <= written, got other counts");
  ensure(
      chain.spans().empty() || chain.spans().back().end <= chain.committed(),
      "[chains] expected bidirectional spans of committed positions, got "
      "others");
  for (int64_t group = 0; group < groups(); ++group) {
    const int64_t end = chain.held(group).end.get();
    ensure(
        std::ssize(row.blocks[static_cast<size_t>(group)]) == end,
        "[chains] expected blocks for every written position, got another "
        "number");
    for (int64_t index = 0; index < end; ++index) {
      check_block(row, group, index);
    }
  }
}

void Chains::check_invariants() const {
  int64_t rows = 0;
  for (const auto& row : rows_) {
    if (row) {
      ++rows;
      check_row(*row);
    }
  }
  ensure(
      rows == batch_.size(),
      "[chains] expected a chain a row of the batch, got another number");
  for (const RowId row : batch_.order()) {
    at(row);
  }
}

} // namespace holdfast
