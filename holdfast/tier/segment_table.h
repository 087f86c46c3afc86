// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to DiskTier: the manifest's rows of segments, and what lies in them.
// `live` is the whole pages of the extents that other rows name: whoever adds
// or removes such a row keeps it true. Threads: one at a time.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "holdfast/base/strong.h"
#include "holdfast/tier/ids.h"
#include "holdfast/tier/segment_format.h"
#include "holdfast/tier/statement.h"

namespace holdfast {

struct SegmentRow {
  SegmentId id;
  SegmentIdentity identity;
  Bytes bytes; // of the file
  Bytes extents; // whole pages of all its extents, dead ones too
  Bytes live;
  Bytes holes; // punched
  bool erase = false; // its dead bytes are to read as zeros, not to wait
  uint64_t checksum = 0; // of the header
};

/// An extent as the row that names it has it.
struct NamedExtent {
  Extent extent;
  ExtentType type = ExtentType::kImage;
  ImageSlot slot; // of an image, as the rest
  Key128 key; // of its node; zero where that is gone
  int64_t positions = 0; // tokens of its node; likewise
};

/// What an extent takes in a segment.
Bytes whole_pages(Bytes bytes);

SegmentId add_segment(Database& database, const SegmentRow& row);
std::optional<SegmentRow> find_segment(Database& database, SegmentId id);
std::optional<SegmentRow>
find_segment(Database& database, SegmentIdentity identity);
/// Of a row whose counts may be wrong; none where there is no row.
std::optional<SegmentIdentity> find_identity(Database& database, SegmentId id);
std::vector<SegmentRow> all_segments(Database& database);
/// Those with bytes that nothing names and that are still on the device.
std::vector<SegmentRow> segments_with_dead(Database& database);
void set_holes(Database& database, SegmentId id, Bytes holes);
/// Every segment with dead bytes is to lose them, on file systems that cannot
/// punch as well; the next sweep that may does it.
void erase_dead(Database& database);
/// What no row names and is still on the device; of it, what is to be erased.
struct DeadBytes {
  Bytes all;
  Bytes erase;
};
DeadBytes dead_bytes(Database& database);
void set_erased(Database& database, SegmentId id);
void remove_segment(Database& database, SegmentId id);
/// What all segments take on the device.
Bytes segment_bytes(Database& database);

/// Names or no longer names an extent: `live` follows.
void add_live(Database& database, const Extent& extent);
void drop_live(Database& database, const Extent& extent);
/// Every extent of the segment that a row names, by offset; one that several
/// rows name comes once for each.
std::vector<NamedExtent> named_extents(Database& database, SegmentId id);
/// `live` as the rows say, whatever it was.
void count_live(Database& database, SegmentId id);

} // namespace holdfast
