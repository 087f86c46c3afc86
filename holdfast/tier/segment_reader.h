// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Opens a segment: its header and directory are read and verified before
// anything else of it is looked at. Values; any thread.

#pragma once

#include <cstdint>

#include "holdfast/base/status.h"
#include "holdfast/env/file_system.h"
#include "holdfast/tier/segment_format.h"

namespace holdfast {

struct SegmentContent {
  SegmentHeader header;
  uint64_t header_checksum = 0;
  SegmentDirectory directory;
};

/// kCorrupt where the file contradicts its format or its own size, kUnsupported
/// for another version or layout, kIo. Allocates a small multiple of the
/// directory's size in the file at most.
Result<SegmentContent> read_segment(const File& file);
/// The header alone.
Result<SegmentHeader> read_segment_header(const File& file);

} // namespace holdfast
