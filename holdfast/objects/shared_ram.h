// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One budget of RAM for several caches, such as a prefix index and the objects
// beside it (docs/objects.md): who needs room gets what is free, then what
// others have and do not use, then that of the entry which is the least loss,
// whosever it is.
//
// Invariant: the caches' parts are within the limit together, and each keeps
// within its part. Threads: any. It outlives nobody: its caches share it.

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "holdfast/objects/ram_user.h"

namespace holdfast {

class SharedRam {
 public:
  /// Throws kInvalidArgument for less than 0.
  explicit SharedRam(Bytes limit);
  SharedRam(const SharedRam&) = delete;
  SharedRam& operator=(const SharedRam&) = delete;

  Bytes limit() const {
    return Bytes(limit_);
  }
  /// Binds at once, as far as what is in use lets it, and wholly when that
  /// ends. Throws as the constructor.
  void set_limit(Bytes limit);
  /// What the caches have and use.
  Bytes used();

  // For caches.

  /// The number of a use: one more than the last.
  uint64_t use() {
    return ++uses_;
  }
  /// Of no part yet.
  void join(RamUser& user);
  /// It is asked no more. Its part is taken until give_back().
  void leave(RamUser& user);
  void give_back(Bytes bytes) {
    free_ += bytes.get();
  }

  enum class Ask {
    /// All of it or nothing: then nothing leaves anywhere.
    kWhole,
    /// What there is without an entry of the user's own, which it lets go of by
    /// itself: others give while theirs is less loss than its next one.
    kFromOthers,
  };
  /// Makes the part larger, until so many bytes of it are unused. False where
  /// they are not.
  bool ask(RamUser& user, Bytes room, Ask how);
  /// Takes back what a lower limit left in use, where others let go of it.
  void settle();

 private:
  /// Under the lock, all.
  bool can_have(Bytes room);
  Bytes take_free(Bytes wanted);
  Bytes take_unused(Bytes wanted, const RamUser* spared);
  /// So many bytes of entries leave, or fewer, the least loss first: what
  /// others gave of it. What the asker lets go of stays its own, or it lets go
  /// of nothing, and none leaves that is more loss than its next one.
  Bytes take_entries(Bytes wanted, RamUser* asker, Ask how);
  void settle_locked();

  std::atomic<int64_t> limit_;
  std::atomic<int64_t> free_; // of no part; below 0 after a lower limit
  std::atomic<uint64_t> uses_{0};
  std::mutex mutex_; // for asking, and for:
  std::vector<RamUser*> users_;
};

} // namespace holdfast
