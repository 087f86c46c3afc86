// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to DiskTier: stores whose bytes are on the device, named in the
// manifest together. Who comes first commits for all that are there by then;
// who comes meanwhile waits for the next one. So the syncs of a commit are paid
// once a group, and a store alone never waits for others.
//
// A part that fails is undone alone; where the commit fails, all of them fail.
// Threads: any.

#pragma once

#include <condition_variable>
#include <mutex>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/base/strong.h"
#include "holdfast/tier/batch.h"

namespace holdfast {

class DiskTierCore;

class CommitPart {
 public:
  virtual ~CommitPart() = default;
  /// In an access, within a transaction: adds its rows and gives its file the
  /// name. The bytes of that file, 0 where it has none. Throws. Called again
  /// where the access starts over.
  virtual Bytes add() = 0;
  /// What add() took out.
  virtual const Removed& removed() const = 0;
  /// In the same access: it is durable.
  virtual void committed() = 0;
};

class GroupCommit {
 public:
  explicit GroupCommit(DiskTierCore& core) : core_(core) {}

  /// Ok once the part is durable.
  Status commit(CommitPart& part);
  /// How many wait for a commit that has not begun.
  size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

 private:
  struct Waiting {
    CommitPart* part;
    Status status;
    bool ended = false;
  };
  void commit_all(const std::vector<Waiting*>& group);
  /// In an access.
  void write(const std::vector<Waiting*>& group);

  DiskTierCore& core_;
  mutable std::mutex mutex_; // for all below
  std::condition_variable ended_;
  std::vector<Waiting*> waiting_;
  bool committing_ = false;
};

} // namespace holdfast
