// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Objects under exact keys, in RAM within a byte budget and on a disk tier:
// what was made once is not made again (docs/objects.md).
//
// Invariants: bytes() counts all that lives, handed out or waiting to be
// written too, and never exceeds the budget; what somebody holds is not let go;
// what was put never changes. Unreadable on disk is a miss. Threads: any; no
// lock is held over a disk or a maker.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "holdfast/env/clock.h"
#include "holdfast/objects/object.h"
#include "holdfast/objects/shared_ram.h"
#include "holdfast/tier/disk_tier.h"
#include "holdfast/tier/flush_report.h"

namespace holdfast {

struct ObjectCacheOptions {
  Bytes ram{int64_t{256} << 20};
  /// In place of `ram`: a budget that others share.
  std::shared_ptr<SharedRam> shared_ram = {};
  std::shared_ptr<DiskTier> disk = {}; // null: RAM alone
  std::shared_ptr<Clock> clock = system_clock();
  // Of the coordinator and its queue; see DurabilityOptions.
  Clock::Duration debounce{};
  Clock::Duration max_delay = std::chrono::seconds(2);
  Clock::Duration retry = std::chrono::seconds(5);
  /// While one waits for its syncs, others write and share its next commit. 0:
  /// what is due is written by flush() alone, on its caller's thread.
  int writers = 4;
};

/// What a maker gives back for one key.
struct MadeObject {
  OpenObject object; // none: it found no room, or is not worth keeping
  int64_t cost = 0; // to make it again, ns; 0: unknown
};

struct ObjectStats {
  // As of now.
  int64_t objects = 0;
  int64_t on_disk = 0; // of these, the disk has as well
  Bytes kept; // by these
  Bytes bytes; // all that lives: these, what only others hold, what is open
  Bytes budget; // of a shared one: this cache's part as of now
  // Since the start.
  int64_t from_ram = 0;
  int64_t from_disk = 0;
  int64_t missed = 0;
  int64_t made = 0;
  int64_t awaited = 0; // made by another thread meanwhile
  int64_t dropped = 0; // from RAM, with a copy on disk
  int64_t lost = 0; // from RAM, the only copy
  int64_t no_room = 0; // opens that were refused
  int64_t unreadable = 0; // on disk
};

class ObjectCache {
 public:
  /// Throws kInvalidArgument for a budget below 0.
  explicit ObjectCache(ObjectCacheOptions options);
  /// Does not flush. What was handed out lives on.
  ~ObjectCache();
  ObjectCache(const ObjectCache&) = delete;
  ObjectCache& operator=(const ObjectCache&) = delete;

  /// Room for an object of 1 byte or more, to be written and put; others leave
  /// where it is short. Throws kOutOfBudget, and then nothing was allocated.
  OpenObject open(Bytes size);
  /// In place of what has the key, and dirty until the disk has it; the same
  /// bytes again are a use and no write. Throws kInvalidArgument for an empty
  /// key or object.
  Object put(const ObjectKey& key, OpenObject object, int64_t cost = 0);

  std::optional<Object> get(const ObjectKey& key);
  /// [key], in their order, each by itself.
  std::vector<std::optional<Object>> get_many(std::span<const ObjectKey> keys);

  /// Makes the keys of these indices, in their order. Runs on the caller's
  /// thread.
  using Maker =
      std::function<std::vector<MadeObject>(std::span<const size_t> missing)>;
  /// The same, and what is missing is made, by one caller though several miss
  /// it at once. Nothing for what this call made and did not keep. Where the
  /// maker throws, nothing of it is kept, and those who waited make it
  /// themselves. Throws kInvalidArgument where a maker asks for its own key.
  std::vector<std::optional<Object>>
  get_or_make(std::span<const ObjectKey> keys, const Maker& make);

  /// Out of RAM and off the disk; ok where there is none.
  Status remove(const ObjectKey& key);
  /// These bytes are not what was put under the key: removed, where nothing
  /// else was put meanwhile, and counted.
  void unreadable(const ObjectKey& key, const Object& object);

  /// Writes what the disk lacks; see FlushReport. Without a disk: durable is
  /// false where anything is kept.
  FlushReport flush(const FlushOptions& options = {});
  /// Binds at once, as far as others let go. Throws kInvalidArgument for less
  /// than 0, and where the budget is shared (SharedRam::set_limit).
  void set_budget(Bytes budget);
  ObjectStats stats() const;
  DurabilityStats pending() const;
  const Clock& clock() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

} // namespace holdfast
