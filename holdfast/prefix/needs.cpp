// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/needs.h"

#include "holdfast/block/layout.h"

namespace holdfast {

Needs::Needs(const std::vector<GroupRule>& rules)
    : windows_(rules), first_phases_(rules.size(), 0) {
  for (GroupRule& rule : windows_) {
    rule.starts.clear();
  }
}

std::vector<HeldBlocks> Needs::held(Position length) const {
  const Chain chain = Chain::restored(
      windows_,
      kBlockTokens,
      {.committed = length, .phases = first_phases_, .spans = {}});
  std::vector<HeldBlocks> result;
  for (int64_t group = 0; group < chain.groups(); ++group) {
    result.push_back(chain.held(group));
  }
  return result;
}

PhaseBounds
phase_bounds(const GroupRule& rule, int64_t phase, BidirectionalSpans spans) {
  PhaseBounds bounds{Position(0), kMaxPositions};
  if (phase > 0) {
    bounds.least = rule.starts[static_cast<size_t>(phase - 1)];
  }
  if (phase + 1 < rule.phases()) {
    const Position next = rule.starts[static_cast<size_t>(phase)];
    const auto* over = span_cut_at(spans, next);
    bounds.most = over ? over->end : next;
  }
  return bounds;
}

} // namespace holdfast
