// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/unfinished_segment.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace holdfast {

namespace {

/// What a commit may add to the manifest: a kibibyte of rows and indices a row,
/// some pages, and a journal of the pages that it changes.
Bytes manifest_growth(int64_t rows, Bytes manifest) {
  constexpr int64_t kRow = 1024;
  constexpr int64_t kPages = 16 * int64_t{kDatabasePage};
  const int64_t journal =
      std::min(rows * kDatabasePage + kPages, manifest.get() + kPages);
  return Bytes(rows * kRow + kPages + journal);
}

} // namespace

void UnfinishedSegment::begin(int64_t rows, Removed& removed) {
  if (begun_) { // the verb runs again, with another manifest
    file_.reset();
    std::ignore = core_.options.files->remove(path_);
    begun_ = false;
    count(Bytes());
  }
  const Bytes daily = core_.options.daily_bytes;
  const Bytes today = core_.manifest().written_today() + Bytes(core_.under_way);
  if (daily > Bytes() && today + plan_.file_bytes() > daily) {
    throw Error(
        ErrorCode::kOutOfBudget,
        core_.options.folder + ": expected at most " +
            std::to_string(daily.get()) + " bytes written a day, got " +
            std::to_string(today.get()) + " and " +
            std::to_string(plan_.file_bytes().get()) + " more");
  }
  const Bytes needed =
      plan_.file_bytes() + manifest_growth(rows, core_.manifest_bytes());
  core_.make_room(needed, removed);
  require_device_room(needed);
  if (plan_.empty()) {
    return;
  }
  identity_ = core_.folder->next_segment();
  path_ = core_.folder->unfinished_path(identity_);
  file_ = value_of(core_.options.files->create(path_));
  begun_ = true;
  count(plan_.file_bytes());
  // From here on it counts for others, too.
  file_->truncate(plan_.file_bytes()).check();
}

void UnfinishedSegment::require_device_room(Bytes needed) const {
  const Bytes free =
      value_of(core_.options.files->free_space(core_.options.folder));
  if (free < needed) {
    throw Error(
        ErrorCode::kOutOfBudget,
        core_.options.folder + ": expected " + std::to_string(needed.get()) +
            " bytes free on the device, got " + std::to_string(free.get()));
  }
}

Status UnfinishedSegment::write() {
  if (!begun_) {
    return Status();
  }
  const Result<uint64_t> checksum = plan_.write(*file_, identity_);
  file_.reset();
  if (checksum.ok()) {
    checksum_ = checksum.value();
  }
  return checksum.status();
}

SegmentId UnfinishedSegment::publish() {
  if (!begun_) {
    return SegmentId();
  }
  const SegmentId id = add_segment(
      core_.database(),
      {.id = {},
       .identity = identity_,
       .bytes = plan_.file_bytes(),
       .extents = plan_.extent_bytes(),
       .live = {},
       .holes = {},
       .checksum = checksum_});
  core_.options.files->rename(path_, core_.folder->segment_path(identity_))
      .check();
  return id;
}

UnfinishedSegment::~UnfinishedSegment() {
  if (!begun_) {
    return;
  }
  count(Bytes());
  file_.reset();
  // A commit that reported an error may have happened: the manifest says. Where
  // even that fails, whoever opens the folder next removes what is left.
  std::ignore = core_.options.files->remove(path_);
  std::ignore = core_.run([&] {
    if (!find_segment(core_.database(), identity_)) {
      const Status status =
          core_.options.files->remove(core_.folder->segment_path(identity_));
      if (!status.ok() && status.code() != ErrorCode::kNotFound) {
        status.check();
      }
    }
  });
}

} // namespace holdfast
