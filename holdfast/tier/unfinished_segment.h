// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to DiskTier: a segment on its way into the folder. Made in an
// access, with room for it; written outside of any; published in another,
// within the transaction that names it. What was not committed goes with this;
// what fails to go counts, and is tried again (TierFolder::open_tiers,
// DiskTierCore::remove_left_over).
// Threads: one at a time.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "holdfast/base/status.h"
#include "holdfast/tier/disk_tier_core.h"
#include "holdfast/tier/segment_writer.h"

namespace holdfast {

class UnfinishedSegment {
 public:
  /// `plan` lives at least until write() is done.
  UnfinishedSegment(DiskTierCore& core, const SegmentPlan& plan)
      : core_(core), plan_(plan) {}
  ~UnfinishedSegment();
  UnfinishedSegment(const UnfinishedSegment&) = delete;
  UnfinishedSegment& operator=(const UnfinishedSegment&) = delete;

  /// In an access, outside of a transaction: makes room and an empty file of
  /// the final size. `rows`: nodes, records and objects that will be added.
  /// Throws kOutOfBudget.
  void begin(int64_t rows, Removed& removed);
  Status write();
  /// In an access, within a transaction: the row, and the file under its name,
  /// which is durable once the folder is synced.
  SegmentId publish();
  /// The transaction was committed.
  void committed() {
    if (std::exchange(begun_, false)) {
      core_.folder->end_writing(identity_);
    }
    count({});
  }

 private:
  void require_day() const;
  void require_device_room(Bytes needed) const;
  /// The file goes, as far as it can: what the device has of it, which counts
  /// in what was written today.
  Bytes end_writing();
  Bytes on_device() const;
  /// What this counts among the stores under way.
  void count(Bytes manifest) {
    core_.growing += (manifest - manifest_).get();
    manifest_ = manifest;
  }

  DiskTierCore& core_;
  const SegmentPlan& plan_;
  SegmentIdentity identity_;
  std::string path_;
  std::unique_ptr<File> file_;
  Bytes manifest_; // counted
  uint64_t checksum_ = 0;
  bool begun_ = false;
  bool published_ = false; // or tried
};

} // namespace holdfast
