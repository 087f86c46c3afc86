// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/plan/chains.h"

#include <algorithm>
#include <string>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/block/layout.h"

namespace holdfast {

namespace {

/// The last block where it is open. A window of one position may leave a row
/// without a last block.
bool has_open_tail(const std::vector<BlockRef>& blocks) {
  return !blocks.empty() && blocks.back() && !blocks.back().sealed();
}

} // namespace

Chains::Chains(BlockPool& pool, std::vector<Retention> retentions)
    : pool_(pool), retentions_(std::move(retentions)) {
  expect(
      pool.kinds() == groups(),
      "[chains] expected an image kind a layer group, got other numbers");
  Chain(retentions_, kBlockTokens); // checks them
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
      {Chain(retentions_, kBlockTokens),
       std::vector<std::vector<BlockRef>>(retentions_.size())});
}

RowId Chains::add(Row row) {
  rows_.reserve(rows_.size() + 1); // so that nothing throws behind Batch::add
  const RowId id = batch_.add();
  if (id.slot == rows_.size()) {
    rows_.emplace_back();
  }
  rows_[id.slot].emplace(std::move(row));
  return id;
}

RowId Chains::fork(RowId row) {
  require_no_step("[chains.fork]");
  Row copy = at(row);
  Bytes tails;
  for (const auto& blocks : copy.blocks) {
    if (has_open_tail(blocks)) {
      tails += blocks.back().bytes();
    }
  }
  pool_.require(tails);
  for (auto& blocks : copy.blocks) {
    if (has_open_tail(blocks)) {
      blocks.back() = pool_.copy(blocks.back());
    }
  }
  return add(std::move(copy));
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

void Chains::reorder(std::span<const RowId> order) {
  require_no_step("[chains.reorder]");
  batch_.reorder(order);
}

std::vector<RowId> Chains::adopt(Chains& source, std::span<const RowId> rows) {
  require_no_step("[chains.adopt]");
  source.require_no_step("[chains.adopt]");
  expect(
      &source != this && &source.pool_ == &pool_ &&
          source.retentions_ == retentions_,
      "[chains.adopt] expected other rows of the same pool and retentions, "
      "got different ones");
  source.batch_.require_distinct(rows, "[chains.adopt]");
  // `rows` may be source.order(), which shrinks below.
  const std::vector<RowId> from(rows.begin(), rows.end());
  std::vector<RowId> result;
  result.reserve(from.size());
  for (const RowId row : from) {
    result.push_back(add(std::move(source.at(row))));
    source.remove(row);
  }
  return result;
}

void Chains::trim(RowId row, Position to) {
  require_no_step("[chains.trim]");
  Row& of = at(row);
  of.chain.trim(to);
  follow(of);
}

const Chain& Chains::chain(RowId row) const {
  return at(row).chain;
}

std::span<const BlockRef> Chains::blocks(RowId row, int64_t group) const {
  return at(row).blocks.at(static_cast<size_t>(group));
}

Bytes Chains::retained_bytes(RowId row) const {
  Bytes result;
  for (const auto& blocks : at(row).blocks) {
    for (const BlockRef& block : blocks) {
      result += block ? block.bytes() : Bytes(0);
    }
  }
  return result;
}

Bytes Chains::bytes_needed(std::span<const RowAppend> appends) const {
  batch_.require_appendable(appends);
  int64_t bytes = 0;
  for (const RowAppend& append : appends) {
    for (int64_t group = 0; group < groups(); ++group) {
      const auto [first, end] = new_blocks(append, group);
      bytes += (end - first) * pool_.image_bytes(group).get();
    }
  }
  return Bytes(bytes);
}

Chains::NewBlocks
Chains::new_blocks(const RowAppend& append, int64_t group) const {
  const Row& row = at(append.row);
  const auto& blocks = row.blocks[static_cast<size_t>(group)];
  Chain after = row.chain;
  after.append(append.count);
  int64_t first = static_cast<int64_t>(blocks.size());
  if (row.chain.sealed_end() < BlockIndex(first) && blocks.back().sealed()) {
    --first; // the row was trimmed to within a sealed block
  }
  return {.first = first, .end = after.held(group).end.get()};
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
  pool_.require(bytes_needed(appends));
  std::vector<BlockPlacement> fresh = placements(appends);
  for (BlockPlacement& placement : fresh) {
    const auto& blocks =
        rows_[placement.slot]->blocks[static_cast<size_t>(placement.group)];
    const auto block = static_cast<size_t>(placement.block.get());
    placement.other = block < blocks.size() ? pool_.copy(blocks[block])
                                            : pool_.allocate(placement.group);
  }
  Transaction step(*this, appends, std::move(fresh));
  step.place();
  return step;
}

void Chains::follow(Row& row) noexcept {
  const BlockIndex sealed_end = row.chain.sealed_end();
  for (size_t group = 0; group < row.blocks.size(); ++group) {
    auto& blocks = row.blocks[group];
    const HeldBlocks held = row.chain.held(static_cast<int64_t>(group));
    const auto end = static_cast<size_t>(held.end.get());
    if (blocks.size() > end) {
      blocks.erase(blocks.begin() + held.end.get(), blocks.end());
    }
    // Both walks go down to what an earlier call did already.
    for (int64_t block = sealed_end.get() - 1; block >= 0; --block) {
      const BlockRef& full = blocks[static_cast<size_t>(block)];
      if (!full || full.sealed()) {
        break;
      }
      full.seal();
    }
    for (int64_t block = held.first.get() - 1; block >= held.pinned.get();
         --block) {
      BlockRef& behind = blocks[static_cast<size_t>(block)];
      if (!behind) {
        break;
      }
      behind = BlockRef();
    }
  }
}

void Chains::check_row(const Row& row) const {
  const Chain& chain = row.chain;
  ensure(
      chain.groups() == groups() && chain.committed() >= Position(0) &&
          chain.committed() <= chain.written() &&
          (open_ || chain.committed() == chain.written()),
      "[chains] expected 0 <= committed <= written, got other counts");
  for (int64_t group = 0; group < groups(); ++group) {
    const HeldBlocks held = chain.held(group);
    const auto& blocks = row.blocks[static_cast<size_t>(group)];
    ensure(
        static_cast<int64_t>(blocks.size()) == held.end.get(),
        "[chains] expected blocks for every written position, got another "
        "number");
    for (int64_t index = 0; index < held.end.get(); ++index) {
      const BlockRef& block = blocks[static_cast<size_t>(index)];
      ensure(
          static_cast<bool>(block) == held.holds(BlockIndex(index)),
          "[chains] expected the blocks that the chain holds, got others");
      if (!block) {
        continue;
      }
      ensure(
          block.kind() == group,
          "[chains] expected images of the group, got another kind");
      ensure(
          BlockIndex(index) >= chain.sealed_end() || block.sealed(),
          "[chains] expected full blocks sealed, got an open one");
      ensure(
          block.sealed() || !block.shared(),
          "[chains] expected open blocks with one owner, got a shared one");
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
