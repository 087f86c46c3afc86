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
    lose_record_body(database, *record); // it can still be named
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
  std::vector<int64_t> cut;
  for (const auto& [number, known] : mappings) {
    const auto mapping = known.lock();
    if (!mapping || mapping->intact()) {
      continue;
    }
    cut.push_back(number);
    lost.cut = true;
    const SegmentId id(number);
    if (const auto row = find_segment(database(), id)) {
      drop_segment(*row, "somebody cut the file short while it was mapped");
      count_live(database(), id);
    }
  }
  transaction.commit();
  // Not before: while the rows are there, the next call has to try again. Who
  // has one mapped goes on; nobody else gets it.
  for (const int64_t number : cut) {
    mappings.erase(number);
  }
}

void DiskTier::drop_cut() {
  // Who asks before each store must not wait for the commits of others where
  // there is nothing to drop.
  if (mappings_are_whole()) {
    return;
  }
  std::unique_lock lock(core_->mutex);
  const bool any = core_->any_cut();
  lock.unlock();
  if (any) {
    // Where this fails the next call, or the next store, tries again.
    std::ignore = core_->run([&] { core_->drop_cut(); });
  }
}

} // namespace holdfast
