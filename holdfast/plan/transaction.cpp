// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/plan/transaction.h"

#include <algorithm>
#include <string>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/base/generation.h"
#include "holdfast/env/mapping_guard.h"
#include "holdfast/plan/chains.h"
#include "holdfast/plan/planner.h"

namespace holdfast {

Transaction::Transaction(
    Chains& chains,
    std::span<const RowAppend> appends,
    std::vector<BlockPlacement> placements)
    : chains_(&chains),
      generation_(next_generation()),
      appends_(appends.begin(), appends.end()),
      placements_(std::move(placements)) {
  chains.open_ = this;
}

Transaction::Transaction(Transaction&& other) noexcept
    : chains_(std::exchange(other.chains_, nullptr)),
      generation_(other.generation_),
      appends_(std::move(other.appends_)),
      placements_(std::move(other.placements_)),
      plan_(std::move(other.plan_)) {
  if (chains_) {
    chains_->open_ = this;
  }
}

Transaction::~Transaction() {
  rollback();
}

void Transaction::place() {
  for (const RowAppend& append : appends_) {
    chains_->at(append.row).chain.append(append.count, append.spans);
  }
  for (BlockPlacement& placement : placements_) {
    auto& blocks = chains_->rows_[placement.slot]
                       ->blocks[static_cast<size_t>(placement.group)];
    const auto block = static_cast<size_t>(placement.block.get());
    if (block == blocks.size()) {
      blocks.emplace_back();
    }
    std::swap(blocks[block], placement.other);
    placement.placed = true;
  }
  plan_ = std::make_shared<const StepPlan>(
      make_step_plan(*chains_, appends_, generation_));
}

void Transaction::require_intact() const {
  // The first call looks: it finds what was cut and not read since.
  if (!open() || (mappings_are_whole() && !mapping_was_cut())) {
    return;
  }
  for (const RowAppend& append : appends_) {
    if (!chains_->intact(append.row)) {
      throw Error(
          ErrorCode::kCorrupt,
          "[step.commit] expected stored images that stay as they are, got a "
          "file that was cut short while it was mapped");
    }
  }
}

void Transaction::require_counts(std::span<const int64_t> accepted) const {
  if (!open()) {
    throw Error(
        ErrorCode::kStale,
        "[step.commit] expected an open step, got step " +
            std::to_string(generation_) + ", which has ended");
  }
  if (accepted.size() != appends_.size()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[step.commit] expected counts for " + std::to_string(appends_.size()) +
            " rows, got " + std::to_string(accepted.size()));
  }
  for (size_t i = 0; i < accepted.size(); ++i) {
    chains_->at(appends_[i].row).chain.require_accepted(accepted[i]);
  }
}

void Transaction::commit(std::span<const int64_t> accepted) {
  require_counts(accepted);
  for (size_t i = 0; i < accepted.size(); ++i) {
    const uint32_t slot = appends_[i].row.slot;
    Chains::Row& row = *chains_->rows_[slot];
    row.chain.commit(accepted[i]);
    if (accepted[i] == 0) {
      restore(slot);
    }
    chains_->follow(row);
  }
  finish();
}

void Transaction::commit_all() {
  std::vector<int64_t> accepted;
  for (const RowAppend& append : appends_) {
    accepted.push_back(append.count);
  }
  commit(accepted);
}

void Transaction::rollback() noexcept {
  if (!open()) {
    return;
  }
  for (const RowAppend& append : appends_) {
    Chains::Row& row = *chains_->rows_[append.row.slot];
    row.chain.rollback();
    restore(append.row.slot);
    chains_->follow(row);
  }
  finish();
}

void Transaction::restore(uint32_t slot) noexcept {
  for (BlockPlacement& placement : placements_) {
    if (placement.slot == slot && placement.placed && placement.other) {
      auto& blocks =
          chains_->rows_[slot]->blocks[static_cast<size_t>(placement.group)];
      std::swap(
          blocks[static_cast<size_t>(placement.block.get())], placement.other);
      placement.placed = false;
    }
  }
}

void Transaction::finish() noexcept {
  chains_->open_ = nullptr;
  chains_ = nullptr;
  placements_.clear();
}

} // namespace holdfast
