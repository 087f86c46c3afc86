// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Bidirectional spans: positions of a row that see each other in both
// directions, such as the tokens of an image, or a prompt of a prefix-LM. What
// a position of a span holds depends on all of the span, so that a span is
// appended, committed and reused whole or not at all. Values; any thread.

#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "holdfast/base/strong.h"

namespace holdfast {

/// Positions [begin, end), absolute in their row. Every query among them sees
/// every key among them, besides what it sees anyway.
struct BidirectionalSpan {
  Position begin;
  Position end;

  /// A prefix of so many positions would end within it.
  bool cut_at(Position length) const {
    return begin < length && length < end;
  }
  bool operator==(const BidirectionalSpan&) const = default;
};

/// In order, without common positions.
using BidirectionalSpans = std::span<const BidirectionalSpan>;

/// The first that is not whole, behind the one before it and within [begin,
/// end), or null.
inline const BidirectionalSpan*
misplaced_span(BidirectionalSpans spans, Position begin, Position end) {
  for (const BidirectionalSpan& span : spans) {
    if (span.begin < begin || span.end <= span.begin || span.end > end) {
      return &span;
    }
    begin = span.end;
  }
  return nullptr;
}

/// The span that a prefix of so many positions would cut, or null.
inline const BidirectionalSpan*
span_cut_at(BidirectionalSpans spans, Position length) {
  const auto found =
      std::partition_point(spans.begin(), spans.end(), [&](const auto& span) {
        return span.end <= length;
      });
  return found != spans.end() && found->cut_at(length) ? &*found : nullptr;
}

/// Those that begin at one of the positions [begin, end): of all spans of a
/// prompt, the ones of an append that cuts none.
inline std::vector<BidirectionalSpan>
spans_from(BidirectionalSpans spans, Position begin, Position end) {
  std::vector<BidirectionalSpan> result;
  for (const BidirectionalSpan& span : spans) {
    if (span.begin >= begin && span.begin < end) {
      result.push_back(span);
    }
  }
  return result;
}

} // namespace holdfast
