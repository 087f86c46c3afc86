// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to DiskTier: a segment that is mapped, with its directory, under a
// lease that ends with it. Shared by all images of it. Threads: any.

#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/env/file_system.h"
#include "holdfast/env/mapping_guard.h"
#include "holdfast/tier/ids.h"
#include "holdfast/tier/segment_reader.h"
#include "holdfast/tier/segment_table.h"
#include "holdfast/tier/tier_folder.h"

namespace holdfast {

class SegmentMapping {
 public:
  /// Under the folder's lock. `named`: what the manifest names in it, by
  /// offset. kCorrupt where the file is not what the row says: missing, of
  /// another size, another segment.
  static Result<std::shared_ptr<SegmentMapping>> open(
      std::shared_ptr<TierFolder> folder,
      const SegmentRow& row,
      std::span<const NamedExtent> named);
  ~SegmentMapping();
  SegmentMapping(const SegmentMapping&) = delete;
  SegmentMapping& operator=(const SegmentMapping&) = delete;

  /// Before it is shared. False where the directory says something else of
  /// that extent than the row that names it; find() then has none there.
  bool agrees(const NamedExtent& named);

  /// Index of the entry with exactly these bytes. kNotFound where they were
  /// dead when the segment was mapped: they may have been punched, and read as
  /// zeros. What died since then is there, as long as this lives. kNotFound
  /// also where a row named them wrongly: whoever asks may go by that one.
  Result<size_t> find(Bytes offset, Bytes bytes) const;
  const std::byte* address(Bytes offset) const {
    return bytes_.get() + offset.get();
  }
  Bytes bytes() const {
    return content_.header.file_bytes;
  }
  /// False once somebody cut the file short (mapping_guard.h).
  bool intact() const {
    return mapping_is_whole(bytes_.get());
  }
  /// Compares the entry with its checksums; `once`: unless it was compared
  /// before.
  Status verify(size_t entry, bool once) const;

 private:
  explicit SegmentMapping(std::shared_ptr<TierFolder> folder)
      : folder_(std::move(folder)) {}

  // Alive as long as this: the lease holds only while its tier does.
  const std::shared_ptr<TierFolder> folder_;
  std::string lease_;
  std::string path_;
  SegmentContent content_;
  std::vector<Extent> live_; // when it was mapped, by offset
  std::set<Bytes> refused_; // offsets of extents that rows name wrongly
  MappedBytes bytes_;
  mutable std::vector<std::atomic<bool>> verified_; // [entry]
};

} // namespace holdfast
