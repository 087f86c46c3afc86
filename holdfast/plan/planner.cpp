// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/plan/planner.h"

#include "holdfast/base/check.h"
#include "holdfast/block/layout.h"

namespace holdfast {

namespace {

RowBlocks images_of(std::span<const BlockRef> blocks) {
  RowBlocks result;
  result.images.reserve(blocks.size());
  for (const BlockRef& block : blocks) {
    if (!block) {
      result.images.push_back(nullptr);
    } else if (block.sealed()) {
      // Only read: every position of the step lies in an open block.
      result.images.push_back(const_cast<std::byte*>(block.image()));
    } else {
      result.images.push_back(block.mutable_image());
    }
  }
  return result;
}

void require_open(const Chain& chain, std::span<const BlockRef> blocks) {
  ensure(
      chain.written().get() <=
          static_cast<int64_t>(blocks.size()) * kBlockTokens,
      "[plan] expected blocks for every position, got too few");
  for (auto b = static_cast<size_t>(chain.sealed_end().get());
       b < blocks.size();
       ++b) {
    ensure(
        blocks[b] && !blocks[b].sealed(),
        "[plan] expected open blocks to append to, got a sealed one");
  }
}

} // namespace

StepPlan make_step_plan(
    const Chains& chains,
    std::span<const RowAppend> appends,
    uint64_t generation) {
  StepPlan plan;
  plan.generation = generation;
  plan.groups.resize(static_cast<size_t>(chains.groups()));
  for (const RowAppend& append : appends) {
    const Chain& chain = chains.chain(append.row);
    const int64_t start = chain.committed().get();
    ensure(
        chain.written().get() == start + append.count,
        "[plan] expected the places of the step, got another number");
    plan.rows.push_back(
        {.first_token = plan.tokens, .count = append.count, .start = start});
    plan.tokens += append.count;
    for (int64_t i = 0; i < append.count; ++i) {
      plan.positions.push_back(static_cast<int32_t>(start + i));
    }
    for (int64_t group = 0; group < chains.groups(); ++group) {
      const auto blocks = chains.blocks(append.row, group);
      require_open(chain, blocks);
      plan.groups[static_cast<size_t>(group)].push_back(images_of(blocks));
    }
  }
  return plan;
}

} // namespace holdfast
