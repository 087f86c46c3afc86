// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Names of what a disk tier keeps. Values; any thread.
//
// A scope is everything besides tokens that decides bits. A node is one run of
// at most kBlockTokens tokens after its parent; a full one may have children, a
// shorter one (a tail) has none. A node has images: one sealed block for each
// of its slots. An id is never used again in one manifest.

#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

#include "holdfast/base/key_hash.h"
#include "holdfast/base/strong.h"

namespace holdfast {

using ScopeId = Strong<struct ScopeTag>;
/// 0 is the root of a scope: no tokens.
using NodeId = Strong<struct NodeTag>;
using SegmentId = Strong<struct SegmentTag>;

/// Which image of a node: of that layer group in that phase.
struct ImageSlot {
  int32_t group = 0;
  int32_t phase = 0;
  constexpr auto operator<=>(const ImageSlot&) const = default;
};

/// Where an image, a record's body or an object lies. Both figures are
/// multiples of 4096 for an image; a body or an object may end within a page.
struct Extent {
  SegmentId segment;
  Bytes offset;
  Bytes bytes;
  constexpr auto operator<=>(const Extent&) const = default;
};

struct RecordName {
  std::string space;
  std::string name;
  auto operator<=>(const RecordName&) const = default;
};

} // namespace holdfast

template <>
struct std::hash<holdfast::ImageSlot> {
  size_t operator()(const holdfast::ImageSlot& slot) const {
    return std::hash<int64_t>{}(
        (int64_t{slot.group} << 32) ^ int64_t{uint32_t(slot.phase)});
  }
};
