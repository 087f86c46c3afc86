// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to DiskTier: what its verbs share. A verb runs in an access: under
// the mutex of the tier and the lock of the folder, with a usable manifest.
// A manifest that turns out damaged is set aside, and the verb runs again on a
// new one.
//
// Members below "in an access" need one; the rest is for any thread.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "holdfast/tier/disk_tier.h"
#include "holdfast/tier/group_commit.h"
#include "holdfast/tier/image_flights.h"
#include "holdfast/tier/manifest.h"
#include "holdfast/tier/segment_mapping.h"
#include "holdfast/tier/segment_table.h"
#include "holdfast/tier/tier_folder.h"

namespace holdfast {

/// A file of the folder that counts in the cap and is no part of the tier.
struct ForeignFile {
  enum class Fate {
    kStays,
    kMayGo, // where room is wanted
    kShallGo, // left over; could not be removed yet
  };
  std::string name;
  Bytes bytes;
  int64_t modified_ns = 0;
  Fate fate = Fate::kStays;
};

/// Uses that are not written down yet.
struct Touches {
  std::map<NodeId, int64_t> nodes; // how often
  int64_t served = 0; // tokens
  std::set<int64_t> objects; // ids
  bool empty() const {
    return nodes.empty() && served == 0 && objects.empty();
  }
};

class DiskTierCore {
 public:
  explicit DiskTierCore(DiskTierOptions options);
  ~DiskTierCore();

  /// Runs `verb()` in an access. What it throws becomes the status.
  template <class Verb>
  auto run(Verb&& verb) -> std::conditional_t<
      std::is_void_v<decltype(verb())>,
      Status,
      Result<decltype(verb())>>;

  const DiskTierOptions options;
  const std::shared_ptr<TierFolder> folder;
  KeyClaims claims() const {
    return {options.files, folder->path(TierFolder::kClaims)};
  }

  // In an access.

  /// Commits what took that out; it is told when the access ends, also where
  /// the commit fails, for it may have happened.
  void commit(ManifestTransaction& transaction, const Removed& removed) {
    gone.add(removed);
    transaction.commit();
  }

  /// The same of stores, whose files are of so many bytes: counts what was
  /// written today.
  void
  commit(ManifestTransaction& transaction, const Removed& removed, Bytes files);

  /// Removes what `work(Removed&)` does, in one transaction, then gives room
  /// back. Once it is committed nothing but a damaged manifest is an error:
  /// what could not be given back is for the next sweep.
  template <class Work>
  Removed remove(Work&& work);
  /// Runs `work`, which adds to `removed`; an error after something went is
  /// one for the report.
  template <class Work>
  void as_far_as_it_goes(const Removed& removed, Work&& work);

  Manifest& manifest() {
    return *manifest_;
  }
  Database& database() {
    return manifest_->database();
  }
  /// Makes folder and manifest agree; what is found goes to the report.
  void reconcile();
  /// Looks at the folder for what is not the tier's.
  void scan_foreign();
  /// Everything in the folder, files of stores under way included.
  Bytes used(const OpenTiers& open) const;
  Bytes manifest_bytes() const;
  OpenTiers open_tiers();
  /// Evicts until `needed` more bytes fit. Throws kOutOfBudget, and then
  /// nothing went but records that expired, where they cannot.
  void make_room(Bytes needed, Removed& removed);
  /// The same for none, as far as it goes: what may not be evicted stays.
  void keep_to_the_cap();
  /// Gives back what nothing names and no tier has mapped; where the file
  /// system cannot punch, zeros are written over what is to be erased
  /// (erase_dead).
  void sweep(Removed& removed);
  /// Writes down the uses that touch() remembered, within a transaction.
  void write_touches();
  /// The same in a transaction of its own.
  void write_pending_touches();
  /// What was written today, by all processes: what stores under way will write
  /// is no part of it.
  Bytes written_today();
  /// The same of all days.
  Bytes written_total();
  /// What of that no commit has counted yet.
  Bytes uncounted() const {
    return Bytes(uncounted_files) + manifest_->uncounted();
  }
  /// Counts it, in a transaction of its own, where there is any.
  void count_written();
  /// What stores that failed left under a segment's name, and what
  /// scan_foreign() found to be left over. What cannot be removed counts.
  void remove_left_over();
  /// Files that scan_foreign() found.
  void remove_files(const std::vector<ForeignFile>& files, Removed& removed);
  /// Manifests that were set aside: they name what is to be forgotten.
  void remove_set_aside(Removed& removed);
  /// What processes work on: KeyClaims::claimed().
  std::set<std::string> claimed() const;
  /// Removes the records whose time is over; a pin, or a claim, outlasts it.
  void expire_records(Removed& removed);
  // Within a transaction (tier_drop.cpp).

  /// The manifest no longer names what lies in the segment.
  void drop_segment(const SegmentRow& segment, const std::string& reason);
  /// The same for exactly these bytes, whatever they are taken for.
  void drop_extent(const Extent& extent, const std::string& reason);
  /// The same for the one row that takes them for that.
  void
  drop_row(const Extent& extent, ExtentType type, const std::string& reason);

  /// What lies in segments that somebody cut short while they were mapped is
  /// dropped, in a transaction of its own.
  void drop_cut();
  void note(TierFinding finding);

  std::map<int64_t, std::weak_ptr<const SegmentMapping>> mappings; // [segment]
  std::multiset<NodeId> in_store; // not to be evicted: a store builds on them
  std::vector<ForeignFile> foreign;
  std::vector<SegmentIdentity> left_over; // unless the manifest names it
  int64_t loaded_version = -1; // data_version at the last load; -1: none
  NodeId loaded_node; // the last id that was given then
  SegmentId loaded_segment; // likewise
  bool can_punch = true;
  // Not told yet:
  Removed gone;
  Lost lost;

  // Of any thread.

  GroupCommit commits{*this};
  ImageFlights flights;
  // What commits of stores under way may add to the manifest and its journal,
  // in bytes.
  std::atomic<int64_t> growing{0};
  // What stores that failed, or died, wrote and no commit has counted yet.
  std::atomic<int64_t> uncounted_files{0};

  // Under mutex alone.
  /// True where somebody cut a segment short that is mapped.
  bool any_cut() const;
  mutable std::mutex mutex;
  TierReport report;
  std::vector<TierListener*> listeners;
  // Under touch_mutex alone, which is held over nothing else: whoever says that
  // something was of use must not wait for the disk.
  std::mutex touch_mutex;
  Touches touches;

 private:
  /// Rethrows damage of the manifest; what else came is noted.
  void pass_over(const Error& error);
  Touches take_touches();
  void write(const Touches& uses);
  void open_manifest();
  void close_manifest();
  void set_aside(const std::string& reason);
  /// After an error of the manifest: true where the verb should run again.
  bool recover(ErrorCode code, int attempt);
  /// Before an access ends.
  void tell();
  struct Telling {
    DiskTierCore& core;
    ~Telling() {
      core.tell();
    }
  };

  std::unique_ptr<Manifest> manifest_;
  uint64_t inode_ = 0; // of the last manifest; 0: none yet
  bool all_gone_ = false; // with a manifest; not told yet
  bool suspect_ = false; // the manifest showed damage
  bool failed_ = false; // an error of it was passed over: open it again
};

template <class Work>
Removed DiskTierCore::remove(Work&& work) {
  Removed removed;
  DeadBytes dead;
  {
    ManifestTransaction transaction(database());
    work(removed);
    dead = dead_bytes(database());
    commit(transaction, removed);
  }
  try {
    sweep(removed);
  } catch (const Error& error) {
    pass_over(error);
    removed.held = dead.all;
    removed.unerased = dead.erase;
  }
  return removed;
}

template <class Work>
void DiskTierCore::as_far_as_it_goes(const Removed& removed, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    if (removed.is_empty()) {
      throw;
    }
    pass_over(error);
  }
}

template <class Verb>
auto DiskTierCore::run(Verb&& verb) -> std::conditional_t<
    std::is_void_v<decltype(verb())>,
    Status,
    Result<decltype(verb())>> {
  const std::lock_guard lock(mutex);
  try {
    const std::unique_ptr<FileLock> folder_lock = folder->lock();
    const Telling telling{*this};
    for (int attempt = 0;; ++attempt) {
      try {
        open_manifest();
        if constexpr (std::is_void_v<decltype(verb())>) {
          verb();
          return Status();
        } else {
          return verb();
        }
      } catch (const ManifestError& error) {
        if (!recover(error.code(), attempt)) {
          throw;
        }
      }
    }
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

} // namespace holdfast
