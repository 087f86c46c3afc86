// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Extents as mapped bytes. Comparing checksums runs outside of any access, so
// that several threads may do it at once.

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "holdfast/base/bits.h"
#include "holdfast/tier/disk_tier_core.h"
#include "holdfast/tier/tier_map.h"

namespace holdfast {

namespace {

using Mapping = std::shared_ptr<const SegmentMapping>;

/// In an access: rows that name in a segment what its directory says is
/// something else, such as the image of another node. A right row of the same
/// bytes stays.
void drop_what_differs(
    DiskTierCore& core,
    SegmentMapping& mapping,
    SegmentId id,
    std::vector<NamedExtent> named) {
  std::erase_if(
      named, [&](const NamedExtent& each) { return mapping.agrees(each); });
  if (named.empty()) {
    return;
  }
  ManifestTransaction transaction(core.database());
  for (const NamedExtent& other : named) {
    core.drop_row(
        other.extent,
        other.type,
        "expected what the segment's directory says, got another row");
  }
  count_live(core.database(), id);
  transaction.commit();
}

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
  std::vector<NamedExtent> named = named_extents(core.database(), id);
  Result<std::shared_ptr<SegmentMapping>> mapping =
      SegmentMapping::open(core.folder, *row, named);
  if (mapping.ok()) {
    drop_what_differs(core, *mapping.value(), id, std::move(named));
    core.mappings[id.get()] = mapping.value();
    return Mapping(mapping.value());
  }
  if (mapping.status().code() == ErrorCode::kCorrupt) {
    ManifestTransaction transaction(core.database());
    core.drop_segment(*row, mapping.status().text());
    transaction.commit();
  }
  return mapping.status();
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
    core.drop_cut(); // all of its segment
    ManifestTransaction transaction(core.database());
    core.drop_extent(extent, why);
    count_live(core.database(), extent.segment);
    transaction.commit();
  });
}

/// The mapping of a segment, made where there is none.
Result<Mapping> map_segment(DiskTierCore& core, SegmentId id) {
  if (Mapping mapping = live_mapping(core, id)) {
    return mapping;
  }
  Result<Mapping> mapping = Mapping();
  const Status status = core.run([&] { mapping = mapping_of(core, id); });
  return status.ok() ? std::move(mapping) : status;
}

/// Asks for extents of one segment, in the order of their places; what lies
/// next to each other in one request.
void ask_for(
    FileSystem& files,
    const SegmentMapping& mapping,
    std::span<const Extent> extents) {
  for (size_t begin = 0; begin < extents.size();) {
    Bytes end = extents[begin].offset;
    size_t next = begin;
    while (next < extents.size() && extents[next].offset <= end) {
      const Extent& extent = extents[next++];
      end = std::max(
          end,
          extent.offset +
              Bytes(round_up(extent.bytes.get(), int64_t{kSegmentPage})));
    }
    const Bytes from = extents[begin].offset;
    begin = next;
    if (from >= Bytes() && end <= mapping.bytes()) {
      // A hint: what it does not bring is read when it is touched.
      std::ignore = files.will_need(
          {mapping.address(from), static_cast<size_t>((end - from).get())});
    }
  }
}

} // namespace

Result<MappedImage>
map_extent(DiskTierCore& core, const Extent& extent, Verify verify) {
  if (extent.bytes == Bytes()) {
    return MappedImage();
  }
  Result<Mapping> found = map_segment(core, extent.segment);
  if (!found.ok()) {
    return found.status();
  }
  Mapping mapping = std::move(found).value();
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
    if (status.code() != ErrorCode::kNotFound) {
      drop(core, extent, status.text());
    }
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

std::shared_ptr<const void>
DiskTier::will_need(std::span<const Extent> extents) {
  std::vector<Extent> sorted(extents.begin(), extents.end());
  std::sort(sorted.begin(), sorted.end(), [](const Extent& a, const Extent& b) {
    return std::pair(a.segment, a.offset) < std::pair(b.segment, b.offset);
  });
  const auto mappings = std::make_shared<std::vector<Mapping>>();
  for (auto begin = sorted.begin(); begin != sorted.end();) {
    const auto end = std::find_if(begin, sorted.end(), [&](const Extent& e) {
      return e.segment != begin->segment;
    });
    Result<Mapping> mapping = map_segment(*core_, begin->segment);
    if (mapping.ok()) {
      ask_for(*core_->options.files, *mapping.value(), {begin, end});
      mappings->push_back(std::move(mapping).value());
    }
    begin = end;
  }
  return mappings;
}

} // namespace holdfast
