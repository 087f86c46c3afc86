// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a flush is asked and what it says. Values; any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "holdfast/base/strong.h"
#include "holdfast/env/clock.h"

namespace holdfast {

struct FlushOptions {
  /// The flush returns then, with what it has. None: it waits.
  std::optional<Clock::Moment> until;
  /// The process ends: after this flush no write starts in the background, and
  /// what it could not start before `until` is cancelled.
  bool last = false;
};

/// "Of this flush" counts begin at zero with it; "total" counts are those of
/// stats() at its end. A flush that joined a running one has that one's report.
struct FlushReport {
  /// Every dirty record is on disk, and nothing was dropped or failed during
  /// the flush.
  bool durable = false;
  int64_t flushed = 0; // of this flush: records that are on disk now
  /// Of this flush: evicted before they were written, or by what was written
  /// after them.
  int64_t missing = 0;
  int64_t pending = 0; // total: records still dirty, missing ones too
  int64_t late = 0; // of those, put after the flush was called
  int64_t pending_writes = 0; // total: jobs in the queue
  Bytes pending_bytes; // total: what these hold
  int64_t dropped = 0; // total: writes that found no room
  int64_t failed = 0; // total
  int64_t dropped_now = 0; // of this flush
  int64_t failed_now = 0; // of this flush
  int64_t elapsed_ms = 0;
  /// Total: why the last write that failed did; empty where none did.
  std::string failure = {};

  /// One line for a person.
  std::string text() const;
};

/// At any time, without waiting.
struct DurabilityStats {
  int64_t pending_records = 0; // dirty
  Bytes token_bytes; // what their keys take
  int64_t pending_writes = 0; // spills in the queue, waiting or running
  Bytes pending_bytes;
  int64_t dropped = 0; // spills, since the queue was made
  int64_t failed = 0; // the same, and records whose content could not be made
};

} // namespace holdfast
