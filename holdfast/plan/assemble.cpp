// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <string>

#include "holdfast/base/check.h"
#include "holdfast/block/layout.h"
#include "holdfast/plan/chains.h"

namespace holdfast {

CapturedRow assemble(
    const std::vector<GroupRule>& rules,
    const ChainFacts& facts,
    const std::vector<std::vector<BlockRef>>& held) {
  CapturedRow row{rules, Chain::restored(rules, kBlockTokens, facts), {}};
  expect(
      held.size() == rules.size(),
      "[assemble] expected blocks of every layer group, got another number");
  int64_t first_kind = 0; // of the group
  for (size_t group = 0; group < rules.size(); ++group) {
    const int64_t kind = first_kind + facts.phases[group];
    first_kind += rules[group].phases();
    const HeldBlocks want = row.chain.held(static_cast<int64_t>(group));
    if (std::ssize(held[group]) != want.count()) {
      throw Error(
          ErrorCode::kInvalidArgument,
          "[assemble] expected " + std::to_string(want.count()) +
              " blocks of layer group " + std::to_string(group) + ", got " +
              std::to_string(held[group].size()));
    }
    auto next = held[group].begin();
    auto& blocks = row.blocks.emplace_back();
    for (BlockIndex index(0); index < want.end; ++index) {
      blocks.emplace_back();
      if (want.holds(index)) {
        expect(
            *next && next->sealed(),
            "[assemble] expected sealed blocks, got an open one or none");
        expect(
            next->kind() == kind,
            "[assemble] expected blocks of their layer group in the phase "
            "named, got one of another image kind");
        blocks.back() = *next++;
      }
    }
  }
  return row;
}

} // namespace holdfast
