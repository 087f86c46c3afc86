// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Extents as mapped bytes. Comparing checksums runs outside of any access, so
// that several threads may do it at once.

#include <optional>
#include <string>
#include <utility>

#include "holdfast/tier/disk_tier_core.h"
#include "holdfast/tier/tier_map.h"

namespace holdfast {

namespace {

using Mapping = std::shared_ptr<const SegmentMapping>;

/// In an access: the mapping that there is, or a new one.
Result<Mapping> mapping_of(DiskTierCore& core, SegmentId id) {
  auto& known = core.mappings[id.get()];
  if (Mapping mapping = known.lock()) {
    return mapping;
  }
  std::erase_if(
      core.mappings, [](const auto& entry) { return entry.second.expired(); });
  const std::optional<SegmentRow> row = find_segment(core.database(), id);
  if (!row) {
    return Status(
        ErrorCode::kNotFound,
        "[DiskTier] expected a segment of the manifest, got " +
            std::to_string(id.get()) + ": evicted");
  }
  Result<Mapping> mapping = SegmentMapping::open(core.folder, *row);
  if (mapping.ok()) {
    core.mappings[id.get()] = mapping.value();
  } else if (mapping.status().code() == ErrorCode::kCorrupt) {
    ManifestTransaction transaction(core.database());
    core.drop_segment(*row, mapping.status().text());
    transaction.commit();
  }
  return mapping;
}

/// The live one, without asking the disk.
Mapping live_mapping(DiskTierCore& core, SegmentId id) {
  const std::lock_guard lock(core.mutex);
  const auto known = core.mappings.find(id.get());
  return known == core.mappings.end() ? nullptr : known->second.lock();
}

void drop(DiskTierCore& core, const Extent& extent, const std::string& why) {
  // Where this fails the extent is refused again when it is mapped again.
  std::ignore = core.run([&] {
    ManifestTransaction transaction(core.database());
    core.drop_extent(extent, why);
    transaction.commit();
  });
}

} // namespace

Result<MappedImage>
map_extent(DiskTierCore& core, const Extent& extent, Verify verify) {
  if (extent.bytes == Bytes()) {
    return MappedImage();
  }
  Mapping mapping = live_mapping(core, extent.segment);
  if (!mapping) {
    Status failure;
    const Status status = core.run([&] {
      Result<Mapping> opened = mapping_of(core, extent.segment);
      failure = opened.status();
      if (opened.ok()) {
        mapping = std::move(opened).value();
      }
    });
    if (!status.ok()) {
      return status;
    }
    if (!failure.ok()) {
      return failure;
    }
  }
  const Result<size_t> entry = mapping->find(extent.offset, extent.bytes);
  Status status = entry.status();
  if (status.ok() && verify != Verify::kNever) {
    status = mapping->verify(entry.value(), verify == Verify::kFirstTouch);
  }
  if (status.ok() && !mapping->intact()) { // compared before, or never
    status = Status(
        ErrorCode::kCorrupt,
        "[DiskTier] expected a segment that stays as it is, got one that was "
        "cut short while it was mapped");
  }
  if (!status.ok()) {
    drop(core, extent, status.text());
    return status;
  }
  const std::byte* address = mapping->address(extent.offset);
  return MappedImage(
      std::shared_ptr<const std::byte>(std::move(mapping), address),
      extent.bytes);
}

Result<MappedImage> DiskTier::map(const Extent& extent) {
  return map_extent(*core_, extent, core_->options.verify);
}

} // namespace holdfast
