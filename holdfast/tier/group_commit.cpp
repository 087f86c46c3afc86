// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/group_commit.h"

#include <exception>
#include <utility>

#include "holdfast/tier/disk_tier_core.h"

namespace holdfast {

Status GroupCommit::commit(CommitPart& part) {
  Waiting mine{.part = &part, .status = {}};
  std::unique_lock lock(mutex_);
  waiting_.push_back(&mine);
  ended_.wait(lock, [&] { return mine.ended || !committing_; });
  if (mine.ended) {
    return mine.status;
  }
  committing_ = true;
  const std::vector<Waiting*> group = std::exchange(waiting_, {});
  lock.unlock();
  commit_all(group);
  lock.lock();
  committing_ = false;
  for (Waiting* each : group) {
    each->ended = true;
  }
  // Under the lock: who waits may be gone as soon as he sees it.
  ended_.notify_all();
  return mine.status;
}

void GroupCommit::commit_all(const std::vector<Waiting*>& group) {
  Status status;
  try {
    status = core_.run([&] { write(group); });
  } catch (const std::exception& error) {
    status = Status(ErrorCode::kInternal, error.what());
  }
  for (Waiting* each : group) {
    if (each->status.ok()) {
      each->status = status;
    }
  }
}

void GroupCommit::write(const std::vector<Waiting*>& group) {
  ManifestTransaction transaction(core_.database());
  bool any = false;
  Bytes files;
  for (Waiting* each : group) {
    each->status = Status();
    ManifestSavepoint savepoint(core_.database());
    try {
      const Bytes file = each->part->add();
      savepoint.keep();
      files += file;
      any = true;
    } catch (const ManifestError&) {
      throw; // the access ends
    } catch (const Error& error) {
      savepoint.undo();
      each->status = Status(error.code(), error.what());
    }
  }
  if (!any) {
    return;
  }
  if (files > Bytes()) {
    core_.options.files->sync_folder(core_.options.folder).check();
  }
  core_.write_touches();
  Removed removed;
  for (Waiting* each : group) {
    if (each->status.ok()) {
      removed.add(each->part->removed());
    }
  }
  core_.commit(transaction, removed, files);
  for (Waiting* each : group) {
    if (each->status.ok()) {
      each->part->committed();
    }
  }
}

} // namespace holdfast
