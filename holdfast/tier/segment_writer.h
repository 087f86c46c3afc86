// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Writes a segment file: data, then the directory with its checksums, then the
// header, then sync. What a plan points to must live, unchanged, until it is
// written. Threads: one at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/base/strong.h"
#include "holdfast/env/file_system.h"
#include "holdfast/tier/segment_format.h"

namespace holdfast {

/// Where everything will lie, known before a byte is written, so that room can
/// be reserved.
class SegmentPlan {
 public:
  /// Adds an image; `planes` as in ImageToStore, checked by the caller. Returns
  /// its index.
  size_t add_image(
      const SegmentEntry& what, // slot, key and positions are taken
      std::span<const std::byte> bytes,
      const std::vector<Bytes>& planes);
  /// Adds a body or an object of 1 byte or more.
  size_t add_bytes(ExtentType type, std::span<const std::byte> bytes);

  bool empty() const {
    return directory_.entries.empty();
  }
  /// Of the whole file; 0 where it is empty.
  Bytes file_bytes() const;
  /// Whole pages of all extents: file_bytes() without header and directory.
  Bytes extent_bytes() const {
    return end_ - Bytes(kSegmentPage);
  }
  const SegmentEntry& entry(size_t index) const {
    return directory_.entries[index];
  }

  /// Fills `file`, which is empty or as long as file_bytes() and zero. Returns
  /// the checksum of the header. The bytes are safe when ok.
  Result<uint64_t> write(File& file, SegmentIdentity identity) const;

 private:
  size_t add(SegmentEntry entry, std::span<const std::byte> bytes);

  SegmentDirectory directory_; // its checksums are zero: made by write()
  std::vector<std::span<const std::byte>> bytes_; // [entry]
  std::map<std::vector<Bytes>, uint32_t> layouts_; // planes -> index
  Bytes end_{kSegmentPage};
};

} // namespace holdfast
