// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Chains, where it says what a row will take.

#include <algorithm>
#include <set>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/block/layout.h"
#include "holdfast/plan/chains.h"

namespace holdfast {

namespace {

/// The most blocks held between `low` and `high` committed positions, with at
/// most `at_once` tentative ones, by a row that holds `now`.
int64_t most_held(
    const GroupRule& rule,
    const HeldBlocks& now,
    int64_t low,
    int64_t high,
    int64_t at_once) {
  // The count never falls until the window is full, and repeats every block
  // from there on, but for what is kept, which grows: its maximum lies in the
  // last period.
  const int64_t last = std::max(low, high - at_once);
  int64_t most = 0;
  for (int64_t c = std::max(low, last - kBlockTokens); c <= last; ++c) {
    const HeldBlocks held{
        .pinned = now.pinned,
        .first =
            std::max(now.first, rule.first_held(Position(c), kBlockTokens)),
        .end = BlockIndex(ceil_div(std::min(c + at_once, high), kBlockTokens)),
        .kept = now.kept};
    const BlockIndex from = std::max(now.first, now.pinned);
    most = std::max(most, held.count() + rule.kept_of(from, held.first));
  }
  return most;
}

} // namespace

Bytes Chains::projected_bytes(
    RowId row,
    int64_t tokens,
    int64_t at_once,
    BidirectionalSpans spans) const {
  expect(
      tokens >= 0 && at_once >= 1,
      "[chains.projected_bytes] expected 0 or more tokens, 1 or more at once");
  const Chain& chain = at(row).chain;
  const int64_t now = chain.committed().get();
  // Clamped, so that no sum overflows.
  tokens = std::min(tokens, (kMaxPositions - chain.committed()).get());
  for (const BidirectionalSpan& span : spans) {
    at_once = std::max(at_once, (span.end - span.begin).get());
  }
  at_once = std::min(at_once, kMaxPositions.get());
  const int64_t end = now + tokens;
  std::set<int64_t> cuts{now}; // where appends end and rows are converted
  for (const GroupRule& rule : rules_) {
    for (const Position start : rule.starts) {
      const auto* across = span_cut_at(spans, start);
      const int64_t cut = (across ? across->end : start).get();
      if (start.get() > now && cut < end) {
        cuts.insert(cut);
      }
    }
  }
  int64_t most = retained_bytes(row).get();
  std::vector<int64_t> phases;
  for (int64_t group = 0; group < groups(); ++group) {
    phases.push_back(chain.phase(group));
  }
  for (auto cut = cuts.begin(); now < end && cut != cuts.end(); ++cut) {
    const int64_t high = std::next(cut) == cuts.end() ? end : *std::next(cut);
    int64_t converting = 0;
    int64_t spare = 0; // an image of the next phase before the first is dropped
    int64_t growing = 0;
    for (int64_t group = 0; group < groups(); ++group) {
      const GroupRule& rule = rules_[static_cast<size_t>(group)];
      int64_t& phase = phases[static_cast<size_t>(group)];
      const int64_t due = rule.phase_at(Position(*cut));
      const int64_t before = pool_.image_bytes(kind(group, phase)).get();
      const int64_t after = pool_.image_bytes(kind(group, due)).get();
      const HeldBlocks held = chain.held(group);
      converting +=
          most_held(rule, held, *cut, *cut, 1) * std::max(before, after);
      spare = std::max(spare, beside_conversion(group, phase, due).get());
      growing += most_held(rule, held, *cut, high, at_once) * after;
      if (*cut == now && copies_tail(at(row), group)) {
        growing += after; // the old tail stays until the first step has ended
      }
      phase = due;
    }
    most = std::max({most, growing, spare == 0 ? 0 : converting + spare});
  }
  return Bytes(most);
}

} // namespace holdfast
