// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Objects: opaque values under exact keys, several to a segment, named in the
// manifest with other stores (group_commit.h).

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

/// Objects on their way into the folder, in one segment.
class ObjectsRun : public CommitPart {
 public:
  /// The objects outlive this.
  ObjectsRun(DiskTierCore& core, std::span<const ObjectToStore> objects)
      : core_(core), objects_(objects), segment_(core, plan_) {
    for (const ObjectToStore& object : objects_) {
      plan_.add_bytes(ExtentType::kObject, object.bytes);
    }
  }

  Result<Removed> run() {
    Status status = core_.run([&] {
      segment_.begin(static_cast<int64_t>(objects_.size()), evicted_);
    });
    if (status.ok()) {
      status = segment_.write();
    }
    if (status.ok()) {
      status = sources(objects_);
    }
    if (status.ok()) {
      status = core_.commits.commit(*this);
    }
    return status.ok() ? Result<Removed>(std::move(evicted_)) : status;
  }

 private:
  Bytes add() override {
    Database& database = core_.database();
    const SegmentId segment = segment_.publish();
    const int64_t tick = core_.manifest().next_tick();
    for (size_t i = 0; i < objects_.size(); ++i) {
      const ObjectToStore& object = objects_[i];
      if (const auto old = find_object(database, object.space, object.key)) {
        remove_object_row(database, *old);
      }
      const SegmentEntry& entry = plan_.entry(i);
      add_object(database, object, {segment, entry.offset, entry.bytes}, tick);
    }
    return plan_.file_bytes();
  }

  const Removed& removed() const override {
    return replaced_;
  }

  void committed() override {
    segment_.committed();
  }

  DiskTierCore& core_;
  const std::span<const ObjectToStore> objects_;
  SegmentPlan plan_;
  UnfinishedSegment segment_;
  Removed evicted_; // to make room
  const Removed replaced_{}; // under the same key something is still there
};

} // namespace

Result<Removed> DiskTier::put_objects(std::span<const ObjectToStore> objects) {
  for (const ObjectToStore& object : objects) {
    require_object(object);
  }
  return objects.empty() ? Removed() : ObjectsRun(*core_, objects).run();
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
