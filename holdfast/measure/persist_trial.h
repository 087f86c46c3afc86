// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What keeping state on disk costs: turns of a chat that is kept beside turns
// of one that is not, and the flush of much state at once. Threads: the engine
// thread.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "holdfast/engine/load.h"
#include "holdfast/measure/restore_trial.h"

namespace holdfast::measure {

/// Two rows of one state decode in turns; one of them is kept.
class PersistTrial {
 public:
  /// Both rows get `depth` tokens, and what is kept of them is on disk.
  /// `loaded` outlives this.
  PersistTrial(
      const LoadedModel& loaded,
      const RestoreSetup& setup,
      int64_t depth);

  /// Seconds of a turn of `tokens` decoded tokens each. While the kept one
  /// decodes, the disk gets what its last turn left, which is put within its
  /// time; when it ends all is on disk, which is not timed.
  struct Turn {
    double plain = 0;
    double kept = 0;
    Bytes written; // into segments, of the kept one's last turn
  };
  Turn turn(int64_t tokens);

  /// What `tokens` more are as state, whole images apart.
  Bytes state_of(int64_t tokens) const;
  /// An open block of each group.
  Bytes tail_bytes() const;

 private:
  struct Chat {
    RowId row;
    std::vector<int32_t> committed;
    bool kept = false;
  };
  void feed(Chat& chat, std::span<const int32_t> tokens);
  double decode(Chat& chat, int64_t tokens);
  void flush();

  const LoadedModel& loaded_;
  const RestoreSetup setup_;
  std::unique_ptr<State> state_;
  std::unique_ptr<PrefixCache> cache_; // of that state
  Chat plain_, kept_;
  int64_t turns_ = 0;
};

struct Flushed {
  double seconds = 0; // from the first put until all is on disk
  Bytes bytes; // of segments
};

/// Puts rows of random images, `bytes` in all, and flushes.
Flushed
flush_rows(const LoadedModel& loaded, const RestoreSetup& setup, Bytes bytes);

} // namespace holdfast::measure
