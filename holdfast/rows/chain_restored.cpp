// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Chain, where one is made from stored facts.

#include <algorithm>
#include <string>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/rows/chain.h"

namespace holdfast {

void Chain::require_phase(const Group& group, int64_t phase) const {
  const auto& starts = group.rule.starts;
  const bool known = phase >= 0 && phase < group.rule.phases();
  const bool entered = known &&
      (phase == 0 || committed_ >= starts[static_cast<size_t>(phase - 1)]);
  bool left = false;
  if (entered && phase + 1 < group.rule.phases()) {
    // An append ends at the next start, or with the span over it.
    const Position next = starts[static_cast<size_t>(phase)];
    const auto* over = span_cut_at(spans_, next);
    left = committed_ > (over ? over->end : next);
  }
  if (!entered || left) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[chain] expected a precision phase that " +
            std::to_string(committed_.get()) +
            " positions are stored in, got phase " + std::to_string(phase));
  }
}

Chain Chain::restored(
    const std::vector<GroupRule>& groups,
    int64_t block_tokens,
    const ChainFacts& facts) {
  Chain chain(groups, block_tokens);
  expect(
      facts.committed >= Position(0) && facts.committed <= kMaxPositions &&
          std::ssize(facts.phases) == chain.groups(),
      "[chain] expected 0 or more positions and a phase a group, got others");
  expect(
      facts.least >= Position(0) && facts.least <= facts.committed,
      "[chain] expected a least length within the positions, got another");
  chain.least_ = facts.least;
  chain.require_spans(facts.committed.get(), facts.spans);
  chain.spans_ = facts.spans;
  chain.committed_ = chain.written_ = facts.committed;
  for (size_t i = 0; i < groups.size(); ++i) {
    Group& group = chain.groups_[i];
    chain.require_phase(group, facts.phases[i]);
    group.phase = group.begun = facts.phases[i];
    group.first = chain.window_begin(group, facts.committed);
  }
  return chain;
}

} // namespace holdfast
