// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/plan/viewed_row.h"

#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/block/layout.h"
#include "holdfast/plan/planner.h"

namespace holdfast {

ViewedRow viewed_row(const Chains& chains, RowId row, int64_t group) {
  const Chain& chain = chains.chain(row);
  expect(
      chain.written() == chain.committed(),
      "[view] expected rows without an open step, got one that a step appends "
      "to");
  const auto blocks = chains.blocks(row, group);
  for (const BlockRef& block : blocks) {
    expect(
        !block ||
            chains.phase_of_kind(group, block.kind()) == chain.phase(group),
        "[view] expected a row stored in one phase, got one whose change was "
        "broken off; its next step ends it",
        ErrorCode::kUnsupported);
  }
  return {
      .row = row,
      .length = chain.committed(),
      .spans = {chain.spans().begin(), chain.spans().end()},
      .blocks = {.images = images_of(blocks), .phase = chain.phase(group)}};
}

bool unchanged(const Chains& chains, const ViewedRow& seen, int64_t group) {
  if (!chains.contains(seen.row)) {
    return false;
  }
  const Chain& chain = chains.chain(seen.row);
  const auto blocks = chains.blocks(seen.row, group);
  if (chain.committed() != seen.length || chain.written() != seen.length ||
      chain.phase(group) != seen.blocks.phase ||
      blocks.size() != seen.blocks.images.size()) {
    return false;
  }
  for (size_t b = 0; b < blocks.size(); ++b) {
    const std::byte* image = blocks[b] ? blocks[b].image() : nullptr;
    if (image != seen.blocks.images[b]) {
      return false;
    }
  }
  return true;
}

Bytes FrozenRows::bytes() const {
  return block_bytes(blocks);
}

FrozenRows freeze(Chains& chains, std::span<const RowId> rows, int64_t group) {
  FrozenRows result;
  for (const RowId row : rows) {
    result.rows.push_back(viewed_row(chains, row, group));
  }
  result.blocks = chains.hold(rows, group);
  for (size_t r = 0; r < rows.size(); ++r) {
    result.rows[r].blocks.images = images_of(result.blocks[r]);
  }
  return result;
}

} // namespace holdfast
