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
  require_day();
  const Bytes growth = manifest_growth(rows, core_.manifest_bytes());
  const Bytes needed = plan_.file_bytes() + growth;
  core_.make_room(needed, removed);
  require_device_room(needed);
  count(growth);
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

// Stores under way count with their files, whoever's they are.
void UnfinishedSegment::require_day() const {
  const Bytes daily = core_.options.daily_bytes;
  if (daily == Bytes()) {
    return;
  }
  // First: what dead ones left may count as written.
  const Bytes under_way = core_.open_tiers().unfinished;
  const Bytes today = core_.written_today() + under_way;
  const Bytes more = plan_.file_bytes() + Manifest::kCommit;
  if (today + more > daily) {
    throw Error(
        ErrorCode::kOutOfBudget,
        core_.options.folder + ": expected at most " +
            std::to_string(daily.get()) + " bytes written a day, got " +
            std::to_string(today.get()) + " and " + std::to_string(more.get()) +
            " more");
  }
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

Bytes UnfinishedSegment::on_device() const {
  for (const std::string& path :
       {path_, core_.folder->segment_path(identity_)}) {
    const Result<FileFacts> facts = core_.options.files->facts(path);
    if (facts.ok()) {
      return facts.value().allocated;
    }
  }
  return Bytes();
}

Bytes UnfinishedSegment::end_writing() {
  count({});
  if (!std::exchange(begun_, false)) {
    return Bytes();
  }
  file_.reset();
  const Bytes wasted = on_device();
  core_.uncounted_files += wasted.get();
  std::ignore = core_.options.files->remove(path_);
  core_.folder->end_writing(identity_);
  return wasted;
}

UnfinishedSegment::~UnfinishedSegment() {
  const bool named = begun_ && published_;
  const Bytes wasted = end_writing();
  if (!named && wasted == Bytes()) {
    return;
  }
  if (named) {
    const std::lock_guard lock(core_.mutex);
    core_.left_over.push_back(identity_);
  }
  std::ignore = core_.run([&] {
    // A commit that reported an error may have happened: the manifest says.
    if (named && find_segment(core_.database(), identity_)) {
      core_.uncounted_files -= wasted.get();
    }
    core_.remove_left_over();
    core_.count_written();
  });
}

} // namespace holdfast
