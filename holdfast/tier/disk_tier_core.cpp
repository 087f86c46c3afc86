// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/disk_tier_core.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "holdfast/tier/key_claims.h"
#include "holdfast/tier/node_table.h"
#include "holdfast/tier/object_table.h"
#include "holdfast/tier/over_records.h"
#include "holdfast/tier/record_table.h"

namespace holdfast {

DiskTierCore::DiskTierCore(DiskTierOptions given)
    : options(std::move(given)),
      folder(std::make_shared<TierFolder>(options.files, options.folder)) {}

DiskTierCore::~DiskTierCore() {
  // What touch() remembered is of use to the next process, and no more; what
  // was written counts in the day's limit of all.
  if (manifest_) {
    std::ignore = run([&] {
      write_pending_touches();
      count_written();
    });
  }
}

void DiskTierCore::note(TierFinding finding) {
  using Action = TierFinding::Action;
  report.removed += finding.action == Action::kRemoved;
  report.foreign +=
      finding.action == Action::kCounted || finding.action == Action::kSetAside;
  constexpr size_t kMost = 1000; // of a folder that is one mess
  if (report.findings.size() < kMost) {
    report.findings.push_back(std::move(finding));
  }
}

void DiskTierCore::close_manifest() {
  if (manifest_) {
    uncounted_files += std::max(manifest_->uncounted(), Bytes()).get();
  }
  manifest_.reset();
}

void DiskTierCore::commit(
    ManifestTransaction& transaction,
    const Removed& removed,
    Bytes files) {
  const int64_t before = uncounted_files;
  manifest_->count_written(files + Bytes(before));
  commit(transaction, removed);
  // Where nobody can say whether it happened, that much may be counted twice.
  manifest_->counted();
  uncounted_files -= before;
}

Bytes DiskTierCore::written_today() {
  return std::max(manifest_->written_today() + uncounted(), Bytes());
}

Bytes DiskTierCore::written_total() {
  return std::max(manifest_->written_total() + uncounted(), Bytes());
}

void DiskTierCore::count_written() {
  if (uncounted() <= Bytes()) {
    return;
  }
  ManifestTransaction transaction(database());
  commit(transaction, {}, Bytes());
}

void DiskTierCore::open_manifest() {
  if (manifest_ && !failed_ && manifest_->is_usable() &&
      manifest_->is_current()) {
    return;
  }
  close_manifest();
  failed_ = false;
  const auto open = [&] {
    manifest_ = std::make_unique<Manifest>(
        options.files,
        options.clock,
        folder->manifest_path(),
        suspect_ ? Manifest::Check::kThorough : Manifest::Check::kSchema);
    loaded_version = -1;
    suspect_ = false;
    const uint64_t before = std::exchange(inode_, manifest_->inode());
    all_gone_ = all_gone_ || (before != 0 && before != inode_);
  };
  const Result<FileFacts> facts = options.files->facts(folder->manifest_path());
  if (facts.ok() && facts.value().kind != FileFacts::Kind::kFile) {
    set_aside("no regular file");
  }
  try {
    open();
    return;
  } catch (const ManifestError& error) {
    // One of another version is whole: what it names stays.
    if (error.code() != ErrorCode::kCorrupt) {
      throw;
    }
    set_aside(error.what());
  }
  suspect_ = false;
  open();
  reconcile();
}

void DiskTierCore::set_aside(const std::string& reason) {
  const std::string name = folder->set_aside_name();
  const std::string to = folder->path(name);
  const Result<FileFacts> facts = options.files->facts(folder->manifest_path());
  // The database first: a journal without its database is dropped by SQLite, a
  // database without its journal would be believed.
  options.files->rename(folder->manifest_path(), to).check();
  all_gone_ = true;
  options.files->sync_folder(options.folder).check();
  const Status journal = options.files->rename(
      folder->path(TierFolder::kJournal), to + "-journal");
  if (!journal.ok() && journal.code() != ErrorCode::kNotFound) {
    journal.check();
  }
  options.files->sync_folder(options.folder).check();
  note(
      {name,
       facts.ok() ? facts.value().size : Bytes(),
       TierFinding::Action::kSetAside,
       reason});
}

bool DiskTierCore::recover(ErrorCode code, int attempt) {
  // Whatever state the connection is in: the next one starts from the file.
  close_manifest();
  suspect_ = suspect_ || code == ErrorCode::kCorrupt;
  return code == ErrorCode::kCorrupt && attempt == 0;
}

void DiskTierCore::tell() {
  const bool all = std::exchange(all_gone_, false);
  const Removed removed = std::exchange(gone, {});
  const Lost dropped = std::exchange(lost, {});
  for (TierListener* listener : listeners) {
    if (all) {
      listener->set_aside();
    }
    if (!removed.is_empty()) {
      listener->removed(removed);
    }
    if (!dropped.is_empty()) {
      listener->lost(dropped);
    }
  }
}

void DiskTierCore::pass_over(const Error& error) {
  if (error.code() == ErrorCode::kCorrupt) {
    throw; // the verb runs again, on a new manifest
  }
  failed_ = true;
  note({".", Bytes(), TierFinding::Action::kNoted, error.what()});
}

void DiskTierCore::remove_files(
    const std::vector<ForeignFile>& files,
    Removed& removed) {
  for (const ForeignFile& file : files) {
    const Status status = options.files->remove(folder->path(file.name));
    if (!status.ok() && status.code() != ErrorCode::kNotFound) {
      status.check();
    }
    std::erase_if(foreign, [&](const ForeignFile& other) {
      return other.name == file.name;
    });
    removed.freed += file.bytes;
    note(
        {file.name,
         file.bytes,
         TierFinding::Action::kRemoved,
         "a file of another format, or set aside, whose room was wanted"});
  }
}

void DiskTierCore::remove_left_over() {
  for (const SegmentIdentity& identity : std::exchange(left_over, {})) {
    if (!find_segment(database(), identity)) {
      const std::string name = segment_file_name(identity);
      const Result<FileFacts> facts = options.files->facts(folder->path(name));
      foreign.push_back(
          {.name = name,
           .bytes = facts.ok() ? facts.value().allocated : Bytes(),
           .modified_ns = facts.ok() ? facts.value().modified_ns : 0,
           .fate = ForeignFile::Fate::kShallGo});
    }
  }
  std::erase_if(foreign, [&](const ForeignFile& file) {
    if (file.fate != ForeignFile::Fate::kShallGo) {
      return false;
    }
    const Status status = options.files->remove(folder->path(file.name));
    return status.ok() || status.code() == ErrorCode::kNotFound;
  });
}

void DiskTierCore::remove_set_aside(Removed& removed) {
  scan_foreign();
  std::vector<ForeignFile> aside = foreign;
  std::erase_if(aside, [](const ForeignFile& file) {
    return file.fate != ForeignFile::Fate::kMayGo ||
        !TierFolder::is_set_aside(file.name);
  });
  remove_files(aside, removed);
}

Bytes DiskTierCore::manifest_bytes() const {
  Bytes sum;
  for (const auto name : {TierFolder::kManifest, TierFolder::kJournal}) {
    const Result<FileFacts> facts = options.files->facts(folder->path(name));
    sum += facts.ok() ? facts.value().size : Bytes();
  }
  return sum;
}

OpenTiers DiskTierCore::open_tiers() {
  std::vector<TierFinding> findings;
  OpenTiers open = folder->open_tiers(findings);
  for (TierFinding& finding : findings) {
    note(std::move(finding));
  }
  uncounted_files += open.abandoned.get();
  return open;
}

Bytes DiskTierCore::used(const OpenTiers& open) const {
  Bytes sum = segment_bytes(manifest_->database()) + manifest_bytes() +
      open.unfinished + open.foreign;
  for (const ForeignFile& file : foreign) {
    sum += file.bytes;
  }
  return sum;
}

Touches DiskTierCore::take_touches() {
  const std::lock_guard lock(touch_mutex);
  return std::exchange(touches, {});
}

void DiskTierCore::write_touches() {
  write(take_touches());
}

void DiskTierCore::write(const Touches& uses) {
  if (uses.empty()) {
    return;
  }
  const int64_t tick = manifest_->next_tick();
  const int64_t now = options.clock->wall_ns();
  for (const auto& [id, count] : uses.nodes) {
    touch_node(database(), id, {tick, now, count});
  }
  for (const int64_t id : uses.objects) {
    touch_object(database(), id, tick);
  }
  if (uses.served > 0) {
    manifest_->add_to(Manifest::Counter::kServed, uses.served);
  }
}

void DiskTierCore::write_pending_touches() {
  if (const Touches uses = take_touches(); !uses.empty()) {
    ManifestTransaction transaction(database());
    write(uses);
    transaction.commit();
  }
}

std::set<std::string> DiskTierCore::claimed() const {
  return value_of(claims().claimed());
}

void DiskTierCore::expire_records(Removed& removed) {
  const std::vector<RecordName> over = OverRecords(*this).all();
  if (over.empty()) {
    return;
  }
  ManifestTransaction transaction(database());
  for (const RecordName& name : over) {
    remove_record_row(database(), name);
  }
  Removed expired;
  expired.records = over;
  commit(transaction, expired);
  removed.add(expired);
}

} // namespace holdfast
