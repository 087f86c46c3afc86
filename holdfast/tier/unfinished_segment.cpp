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
  end_writing(); // the verb may run again, with another manifest
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
  const Bytes growth = manifest_growth(rows, core_.manifest_bytes());
  const Bytes needed = plan_.file_bytes() + growth;
  core_.make_room(needed, removed);
  require_device_room(needed);
  count(plan_.file_bytes(), growth);
  if (plan_.empty()) {
    return;
  }
  identity_ = core_.folder->next_segment();
  path_ = core_.folder->unfinished_path(identity_);
  file_ = value_of(core_.options.files->create(path_));
  begun_ = true;
  core_.folder->begin_writing(identity_);
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
  published_ = true;
  core_.options.files->rename(path_, core_.folder->segment_path(identity_))
      .check();
  return id;
}

void UnfinishedSegment::end_writing() {
  count({}, {});
  if (std::exchange(begun_, false)) {
    file_.reset();
    std::ignore = core_.options.files->remove(path_);
    core_.folder->end_writing(identity_);
  }
}

UnfinishedSegment::~UnfinishedSegment() {
  const bool named = begun_ && published_;
  end_writing();
  if (!named) {
    return;
  }
  // A commit that reported an error may have happened: the manifest says.
  {
    const std::lock_guard lock(core_.mutex);
    core_.left_over.push_back(identity_);
  }
  std::ignore = core_.run([&] { core_.remove_left_over(); });
}

} // namespace holdfast
