// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Folder and manifest made to agree. The manifest is believed: a segment that
// it does not know was never acknowledged, or is no longer wanted.

#include <map>

#include "holdfast/tier/disk_tier_core.h"
#include "holdfast/tier/segment_reader.h"

namespace holdfast {

namespace {

using Action = TierFinding::Action;
using Fate = ForeignFile::Fate;

/// Bytes of a folder that is not ours, as deep as anybody would nest it.
Bytes bytes_below(FileSystem& files, const std::string& path, int depth) {
  constexpr int kDeepest = 16;
  const auto names = files.list(path);
  if (!names.ok() || depth == kDeepest) {
    return Bytes();
  }
  Bytes sum;
  for (const std::string& name : names.value()) {
    const auto facts = files.facts(path + "/" + name);
    if (facts.ok() && facts.value().kind == FileFacts::Kind::kFolder) {
      sum += bytes_below(files, path + "/" + name, depth + 1);
    } else if (facts.ok()) {
      sum += facts.value().allocated;
    }
  }
  return sum;
}

/// What a file with a segment's name is, that the manifest does not know.
enum class Unknown { kLeftover, kOtherVersion, kUnreadable };

Unknown examine(FileSystem& files, const std::string& path) {
  const auto file = files.open(path, FileSystem::Access::kRead);
  if (!file.ok()) {
    return Unknown::kUnreadable;
  }
  switch (read_segment_header(*file.value()).status().code()) {
    case ErrorCode::kUnsupported:
      return Unknown::kOtherVersion;
    case ErrorCode::kIo:
      return Unknown::kUnreadable;
    default:
      return Unknown::kLeftover;
  }
}

class FolderScan {
 public:
  explicit FolderScan(DiskTierCore& core) : core_(core) {
    for (const SegmentRow& row : all_segments(core.database())) {
      rows_.emplace(row.identity, row);
    }
  }

  /// With `repair`, leftovers go and rows without their file are dropped.
  void look(bool repair) {
    core_.foreign.clear();
    for (const std::string& name :
         value_of(core_.options.files->list(core_.options.folder))) {
      if (!TierFolder::is_fixed(name)) {
        look_at(name, repair);
      }
    }
    if (repair) {
      for (const auto& [identity, row] : rows_) {
        drop(row, "the file is missing");
      }
    }
  }

 private:
  void look_at(const std::string& name, bool repair) {
    const auto facts = core_.options.files->facts(core_.folder->path(name));
    if (!facts.ok()) {
      return; // gone meanwhile
    }
    const auto identity = segment_of_file_name(name);
    const bool is_file = facts.value().kind == FileFacts::Kind::kFile;
    if (!identity || !is_file) {
      count(
          name,
          facts.value(),
          is_file && TierFolder::is_set_aside(name) ? Fate::kMayGo
                                                    : Fate::kStays,
          is_file ? "not a name of holdfast's" : "no regular file");
      return;
    }
    const auto row = rows_.find(*identity);
    if (row == rows_.end()) {
      look_at_unknown(name, facts.value());
      return;
    }
    const SegmentRow known = row->second;
    rows_.erase(row);
    if (repair && facts.value().size != known.bytes) {
      drop(
          known,
          "expected " + std::to_string(known.bytes.get()) + " bytes, got " +
              std::to_string(facts.value().size.get()));
      remove(name, facts.value(), "a segment of the wrong size");
    }
  }

  void look_at_unknown(const std::string& name, const FileFacts& facts) {
    switch (examine(*core_.options.files, core_.folder->path(name))) {
      case Unknown::kLeftover:
        // Nobody is between a file's name and its commit: both are one access.
        remove(name, facts, "the manifest does not name it");
        break;
      case Unknown::kOtherVersion:
        count(name, facts, Fate::kMayGo, "a segment of another format");
        break;
      case Unknown::kUnreadable:
        count(name, facts, Fate::kStays, "a segment that cannot be read");
        break;
    }
  }

  void count(
      const std::string& name,
      const FileFacts& facts,
      Fate fate,
      const std::string& reason) {
    const Bytes bytes = facts.kind == FileFacts::Kind::kFolder
        ? bytes_below(*core_.options.files, core_.folder->path(name), 0)
        : facts.allocated;
    core_.foreign.push_back({name, bytes, facts.modified_ns, fate});
    if (noted_) {
      core_.note({name, bytes, Action::kCounted, reason});
    }
  }

  void remove(
      const std::string& name,
      const FileFacts& facts,
      const std::string& reason) {
    const Status status = core_.options.files->remove(core_.folder->path(name));
    if (status.ok()) {
      core_.note({name, facts.size, Action::kRemoved, reason});
    } else if (status.code() != ErrorCode::kNotFound) {
      count(name, facts, Fate::kShallGo, status.text());
    }
  }

  void drop(const SegmentRow& row, const std::string& reason) {
    core_.drop_segment(row, reason);
    remove_segment(core_.database(), row.id);
  }

 public:
  bool noted_ = true; // whether what is counted is reported

 private:
  DiskTierCore& core_;
  std::map<SegmentIdentity, SegmentRow> rows_; // whose file was not seen
};

} // namespace

void DiskTierCore::scan_foreign() {
  FolderScan scan(*this);
  scan.noted_ = false;
  scan.look(false);
}

void DiskTierCore::reconcile() {
  const Result<FileFacts> facts = options.files->facts(options.folder);
  facts.status().check();
  if ((facts.value().mode & 077) != 0) {
    note(
        {".",
         Bytes(),
         Action::kNoted,
         "others may read the folder: expected mode 0700"});
  }
  open_tiers(); // what dead ones left goes
  ManifestTransaction transaction(database());
  FolderScan scan(*this);
  scan.look(true);
  transaction.commit();
  Removed removed;
  sweep(removed);
  manifest_->shrink();
}

} // namespace holdfast
