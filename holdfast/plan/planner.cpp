// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/plan/planner.h"

#include <map>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/block/layout.h"

namespace holdfast {

std::vector<std::byte*> images_of(std::span<const BlockRef> blocks) {
  std::vector<std::byte*> images;
  images.reserve(blocks.size());
  for (const BlockRef& block : blocks) {
    if (!block) {
      images.push_back(nullptr);
    } else if (block.sealed()) {
      // Only read: every position of a step lies in an open block.
      images.push_back(const_cast<std::byte*>(block.image()));
    } else {
      images.push_back(block.mutable_image());
    }
  }
  return images;
}

namespace {

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

std::vector<PhaseRows> by_phase(
    const std::vector<RowSpan>& rows,
    const std::vector<RowBlocks>& blocks) {
  std::map<int64_t, PhaseRows> phases;
  for (const RowBlocks& row : blocks) {
    phases[row.phase].phase = row.phase;
  }
  std::vector<PhaseRows> result;
  if (phases.size() < 2) {
    return result;
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    PhaseRows& of = phases[blocks[i].phase];
    of.rows.push_back(rows[i]);
    of.blocks.push_back(blocks[i]);
  }
  for (auto& [phase, of] : phases) {
    result.push_back(std::move(of));
  }
  return result;
}

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
        {.first_token = plan.tokens,
         .count = append.count,
         .start = start,
         .bidirectional = append.spans});
    plan.tokens += append.count;
    for (int64_t i = 0; i < append.count; ++i) {
      plan.positions.push_back(static_cast<int32_t>(start + i));
    }
    for (int64_t group = 0; group < chains.groups(); ++group) {
      const auto blocks = chains.blocks(append.row, group);
      require_open(chain, blocks);
      plan.groups[static_cast<size_t>(group)].push_back(
          {.images = images_of(blocks), .phase = chain.phase(group)});
    }
  }
  for (const auto& blocks : plan.groups) {
    plan.mixed.push_back(by_phase(plan.rows, blocks));
  }
  return plan;
}

} // namespace holdfast
