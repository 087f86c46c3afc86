// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The books of resumable generations: which attempt of a key may write, what is
// pending, which removals failed. Threads: none of its own; ContinuationCore's
// lock guards it.
//
// A *barrier* is a job's place in the order of all jobs, checkpoints too, so a
// removal covers what has a smaller one.

#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "holdfast/tier/continuations.h"

namespace holdfast {

struct ContinuationAttempt {
  std::string key;
  uint64_t id = 0;
  uint64_t version = 0; // of the newest checkpoint
  int64_t pending = 0; // checkpoints in the queue
  bool completed = false;
  bool released = false;
  bool failed = false; // the newest checkpoint is not on disk
};

class ContinuationBooks {
 public:
  using Attempt = std::shared_ptr<ContinuationAttempt>;

  bool has(const std::string& key) const {
    return keys_.contains(key);
  }
  /// Opens the key, whose claim is kept until it is settled.
  void open(const std::string& key, std::shared_ptr<void> claim);
  /// A new current attempt of an open key.
  Attempt begin(const std::string& key);
  bool is_current(const ContinuationAttempt& attempt) const;

  /// A checkpoint enters the queue: its barrier.
  uint64_t add_write(ContinuationAttempt& attempt);
  /// It did not: it found no room.
  void drop_write(ContinuationAttempt& attempt);
  /// It has left the queue.
  void end_write(ContinuationAttempt& attempt, uint64_t version, bool stored);
  /// A removal enters the queue: its barrier.
  uint64_t add_cleanup(const std::string& key);
  void end_cleanup(const std::string& key, uint64_t barrier, bool removed);
  /// What a write with that barrier left could not be removed.
  void fail_cleanup(const std::string& key, uint64_t barrier);

  /// True where the attempt was the key's current one: a removal is due.
  bool complete(ContinuationAttempt& attempt);
  void release(ContinuationAttempt& attempt);

  /// Settles all.
  void clear();

  /// A key that nothing needs any more, and its claim: giving that back takes
  /// locks of files, so it is for whoever holds no lock.
  struct Settled {
    std::string key;
    std::shared_ptr<void> claim;
  };
  /// Those settled since the last call. Each is closing until end_closing().
  std::vector<Settled> take_settled();
  void end_closing(const std::vector<Settled>& settled);
  /// True while the claim of a settled key may still be there.
  bool is_closing(const std::string& key) const {
    return closing_.contains(key);
  }
  bool is_closing() const {
    return !closing_.empty();
  }

  bool can_restore(const std::string& key) const;
  /// True where a removal has failed and none is pending.
  bool needs_cleanup(const std::string& key) const;
  /// Keys without an attempt that need one.
  std::vector<std::string> keys_to_clean() const;
  void count(ContinuationReport& report) const;
  int64_t keys() const {
    return static_cast<int64_t>(keys_.size());
  }
  /// Jobs that have not ended.
  int64_t jobs() const {
    return jobs_;
  }

 private:
  struct Key {
    std::shared_ptr<void> claim;
    Attempt current;
    int64_t jobs = 0;
    std::set<uint64_t> cleaning; // barriers
    std::set<uint64_t> failed; // barriers
    uint64_t cleaned = 0; // the newest barrier that succeeded
  };

  using Keys = std::unordered_map<std::string, Key>;

  Key& at(const std::string& key);
  void end_job(const std::string& key);
  /// Frees what nothing needs any more.
  void settle(const std::string& key);
  void close(Keys::iterator at);

  Keys keys_;
  std::vector<Settled> settled_;
  std::set<std::string> closing_;
  uint64_t next_attempt_ = 1;
  uint64_t next_barrier_ = 1;
  int64_t jobs_ = 0;
};

} // namespace holdfast
