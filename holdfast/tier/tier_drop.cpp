// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What cannot be read goes out of the manifest, so that whoever computes it
// again stores it again.

#include <tuple>
#include <utility>
#include <vector>

#include "holdfast/env/mapping_guard.h"
#include "holdfast/tier/disk_tier_core.h"
#include "holdfast/tier/node_table.h"
#include "holdfast/tier/object_table.h"
#include "holdfast/tier/record_table.h"

namespace holdfast {

namespace {

constexpr ExtentType kEachType[] = {
    ExtentType::kImage,
    ExtentType::kBody,
    ExtentType::kObject};

bool drop_image(Database& database, const Extent& extent, Lost& lost) {
  const NodeId node = node_at(database, extent);
  if (node == NodeId()) {
    return false;
  }
  for (const StoredImage& image : images_of(database, node)) {
    if (image.extent == extent) {
      remove_image(database, node, image);
    }
  }
  lost.images.push_back(extent);
  Removed removed;
  remove_useless(database, node, removed);
  lost.nodes.insert(
      lost.nodes.end(), removed.nodes.begin(), removed.nodes.end());
  return true;
}

bool drop_body(Database& database, const Extent& extent) {
  const auto record = record_at(database, extent);
  if (record) {
    remove_record_row(database, *record);
  }
  return record.has_value();
}

bool drop_object(Database& database, const Extent& extent) {
  const auto object = object_at(database, extent);
  if (object) {
    remove_object_row(database, *object);
  }
  return object.has_value();
}

} // namespace

void DiskTierCore::drop_row(
    const Extent& extent,
    ExtentType type,
    const std::string& reason) {
  bool was_there = false;
  switch (type) {
    case ExtentType::kImage:
      was_there = drop_image(database(), extent, lost);
      report.corrupt_images += was_there ? 1 : 0;
      break;
    case ExtentType::kBody:
      was_there = drop_body(database(), extent);
      break;
    case ExtentType::kObject:
      was_there = drop_object(database(), extent);
      break;
  }
  if (was_there) {
    const auto segment = find_identity(database(), extent.segment);
    note(
        {segment ? segment_file_name(*segment) : "a segment",
         extent.bytes,
         TierFinding::Action::kDropped,
         reason});
  }
}

void DiskTierCore::drop_extent(
    const Extent& extent,
    const std::string& reason) {
  for (const ExtentType type : kEachType) {
    drop_row(extent, type, reason);
  }
}

void DiskTierCore::drop_segment(
    const SegmentRow& segment,
    const std::string& reason) {
  for (const NamedExtent& named : named_extents(database(), segment.id)) {
    drop_row(named.extent, named.type, reason);
  }
}

bool DiskTierCore::any_cut() const {
  for (const auto& [id, known] : mappings) {
    const auto mapping = known.lock();
    if (mapping && !mapping->intact()) {
      return true;
    }
  }
  return false;
}

void DiskTierCore::drop_cut() {
  if (!any_cut()) {
    return;
  }
  ManifestTransaction transaction(database());
  std::erase_if(mappings, [&](const auto& entry) {
    const auto mapping = entry.second.lock();
    const bool cut = mapping && !mapping->intact();
    const SegmentId id(entry.first);
    const auto row = cut ? find_segment(database(), id) : std::nullopt;
    if (row) {
      drop_segment(*row, "somebody cut the file short while it was mapped");
      count_live(database(), id);
    }
    return cut; // who has it mapped goes on; nobody else gets it
  });
  transaction.commit();
}

Lost DiskTier::take_lost() {
  std::unique_lock lock(core_->mutex, std::defer_lock);
  if (mappings_are_whole()) {
    // Who asks before each store must not wait for the commits of others: what
    // is not told now is told the next time.
    if (!lock.try_lock()) {
      return {};
    }
  } else {
    lock.lock();
  }
  if (core_->any_cut()) {
    lock.unlock();
    // Where this fails the next call, or the next store, tries again.
    std::ignore = core_->run([&] { core_->drop_cut(); });
    lock.lock();
  }
  return std::exchange(core_->lost, {});
}

} // namespace holdfast
