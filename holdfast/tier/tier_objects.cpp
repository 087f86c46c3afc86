// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Objects: opaque values under exact keys, several to a segment.

#include <optional>
#include <string>
#include <utility>

#include "holdfast/env/mapping_guard.h"
#include "holdfast/tier/batch_check.h"
#include "holdfast/tier/disk_tier_core.h"
#include "holdfast/tier/object_table.h"
#include "holdfast/tier/tier_map.h"
#include "holdfast/tier/unfinished_segment.h"

namespace holdfast {

namespace {

Removed remove_all(DiskTierCore& core, const std::vector<ObjectRow>& objects) {
  return core.remove([&](Removed& removed) {
    for (const ObjectRow& object : objects) {
      remove_object_row(core.database(), object);
      ++removed.objects;
    }
    if (!objects.empty()) {
      erase_dead(core.database());
    }
  });
}

/// Whether what was written meant something: it may lie in a mapped file.
Status sources(std::span<const ObjectToStore> objects) {
  for (const ObjectToStore& object : objects) {
    if (!mapping_is_whole(object.bytes.data())) {
      return Status(
          ErrorCode::kCorrupt,
          "[DiskTier] expected objects to store that are whole, got one of a "
          "file that was cut short while it was mapped");
    }
  }
  return Status();
}

} // namespace

Result<Removed> DiskTier::put_objects(std::span<const ObjectToStore> objects) {
  if (objects.empty()) {
    return Removed();
  }
  SegmentPlan plan;
  for (const ObjectToStore& object : objects) {
    require_object(object);
    plan.add_bytes(ExtentType::kObject, object.bytes);
  }
  Removed removed;
  UnfinishedSegment unfinished(*core_, plan);
  Status status = core_->run(
      [&] { unfinished.begin(static_cast<int64_t>(objects.size()), removed); });
  if (status.ok()) {
    status = unfinished.write();
  }
  if (status.ok()) {
    status = sources(objects);
  }
  if (status.ok()) {
    status = core_->run([&] {
      ManifestTransaction transaction(core_->database());
      const SegmentId segment = unfinished.publish();
      const int64_t tick = core_->manifest().next_tick();
      for (size_t i = 0; i < objects.size(); ++i) {
        if (const auto old = find_object(
                core_->database(), objects[i].space, objects[i].key)) {
          remove_object_row(core_->database(), *old);
        }
        const SegmentEntry& entry = plan.entry(i);
        add_object(
            core_->database(),
            objects[i],
            {segment, entry.offset, entry.bytes},
            tick);
      }
      core_->options.files->sync_folder(core_->options.folder).check();
      core_->write_touches();
      core_->manifest().count_written(plan.file_bytes());
      transaction.commit();
      unfinished.committed();
    });
  }
  return status.ok() ? Result<Removed>(std::move(removed)) : status;
}

Result<MappedImage>
DiskTier::object(std::string_view space, std::string_view key) {
  const Result<std::optional<ObjectRow>> found = core_->run([&] {
    auto object = find_object(core_->database(), space, key);
    if (object && object->expires_ns != 0 &&
        object->expires_ns <= core_->options.clock->wall_ns()) {
      object.reset();
    }
    if (object) {
      const std::lock_guard lock(core_->touch_mutex);
      core_->touches.objects.insert(object->id);
    }
    return object;
  });
  if (!found.ok()) {
    return found.status();
  }
  if (!found.value()) {
    return Status(
        ErrorCode::kNotFound,
        "[DiskTier] expected an object under that key in " +
            std::string(space) + ", got none");
  }
  return map_extent(*core_, found.value()->extent, core_->options.verify);
}

Result<Removed>
DiskTier::remove_object(std::string_view space, std::string_view key) {
  return core_->run([&] {
    const auto object = find_object(core_->database(), space, key);
    return remove_all(
        *core_, object ? std::vector{*object} : std::vector<ObjectRow>());
  });
}

Result<Removed> DiskTier::remove_objects(std::string_view space) {
  return core_->run(
      [&] { return remove_all(*core_, objects_of(core_->database(), space)); });
}

} // namespace holdfast
