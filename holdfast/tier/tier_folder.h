// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to DiskTier: the names in its folder, and what open tiers keep in
// the folder `open/`: each its lock, which dies with it, an unfinished file a
// store under way, and an empty file a segment it has mapped (a lease). None of
// it is synced: no process outlives a loss of power.
// Threads: any, under the folder's lock unless said otherwise.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/base/strong.h"
#include "holdfast/env/file_system.h"
#include "holdfast/tier/segment_format.h"
#include "holdfast/tier/tier_report.h"

namespace holdfast {

/// "0123456789abcdef-12.segment"
std::string segment_file_name(SegmentIdentity identity);
std::optional<SegmentIdentity> segment_of_file_name(std::string_view name);

/// What the tiers that are open keep.
struct OpenTiers {
  std::set<SegmentIdentity> leased; // by any of them, this one included
  int64_t leases = 0;
  Bytes unfinished; // what stores under way will take
  Bytes abandoned; // what dead ones had written, removed just now
  Bytes foreign; // of names that are not ours
};

class TierFolder {
 public:
  TierFolder(std::shared_ptr<FileSystem> files, std::string folder);
  /// Gives its lock back and removes what it left in open/.
  ~TierFolder();
  TierFolder(const TierFolder&) = delete;
  TierFolder& operator=(const TierFolder&) = delete;

  /// Makes the folders and, under the folder's lock, this tier's in open/.
  void enter();
  /// Waits for the lock of the folder. Any thread.
  std::unique_ptr<FileLock> lock();

  FileSystem& files() const {
    return *files_;
  }
  const std::string& path() const {
    return folder_;
  }
  std::string path(std::string_view name) const {
    return folder_ + "/" + std::string(name);
  }
  std::string manifest_path() const {
    return path(kManifest);
  }
  std::string segment_path(SegmentIdentity identity) const {
    return path(segment_file_name(identity));
  }
  /// True for the names that are part of every tier.
  static bool is_fixed(std::string_view name);
  /// A name, drawn anew, for a manifest that is set aside.
  std::string set_aside_name();
  /// True for such a name, and for the journal's beside it.
  static bool is_set_aside(std::string_view name);

  /// A name for the next segment of this tier. Any thread.
  SegmentIdentity next_segment();
  std::string unfinished_path(SegmentIdentity identity) const;
  /// Makes a lease and returns its path; removing the file ends it.
  std::string lease(SegmentIdentity identity);

  /// A store of this tier writes that file, until it says that it does no more.
  /// Any thread.
  void begin_writing(SegmentIdentity identity);
  void end_writing(SegmentIdentity identity);

  /// Looks at open/, and removes what dead tiers left there, and what stores of
  /// this one did. What cannot be removed counts, and stays for the next look.
  OpenTiers open_tiers(std::vector<TierFinding>& findings);

  static constexpr std::string_view kManifest = "manifest.db";
  static constexpr std::string_view kJournal = "manifest.db-journal";
  static constexpr std::string_view kLock = "lock";
  static constexpr std::string_view kOpen = "open";
  static constexpr std::string_view kClaims = "claims"; // KeyClaims'

 private:
  std::string open_path(std::string_view name) const {
    return path(kOpen) + "/" + std::string(name);
  }
  bool is_alive(const std::string& tier) const;
  bool is_writing(SegmentIdentity identity);
  /// What it still takes, where it cannot be removed.
  Bytes remove_unfinished(
      const std::string& name,
      std::vector<TierFinding>& findings);

  const std::shared_ptr<FileSystem> files_;
  const std::string folder_;
  uint64_t id_ = 0;
  std::atomic<uint64_t> next_{1};
  std::mutex writing_mutex_;
  std::set<SegmentIdentity> writing_;
  std::unique_ptr<FileLock> alive_;
};

/// Throws Error where it is not ok.
template <class T>
T value_of(Result<T> result) {
  return std::move(result).value();
}

} // namespace holdfast
