// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The books of records that are in RAM and not, or not in their newest version,
// on disk: versions, flights (stores under way) and when the next may start.
//
// A record is here from its put until a store of its newest version is done;
// clean records leave nothing. A record is *due* at its moment unless a store
// of it flies or a flush has taken it. Threads: none of its own; Durability's
// lock guards it.

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "holdfast/env/clock.h"
#include "holdfast/tier/record.h"

namespace holdfast {

/// How a try to store a record ended.
enum class StoreOutcome {
  kStored, // on disk, whoever wrote it
  kMissing, // its state was evicted, and nothing on disk covers it
  kFailed, // made nothing or wrote nothing
  kNotTried, // no room, cancelled, too late
};

struct DirtyTiming {
  Clock::Duration debounce{};
  Clock::Duration max_delay{};
  Clock::Duration retry{};
};

/// A store under way.
struct Flight {
  RecordKey key;
  uint64_t id = 0;
  uint64_t version = 0;
};

class DirtyRecords {
 public:
  using Moment = Clock::Moment;

  struct Record {
    RecordKey key;
    uint64_t id = 0; // the version with which it became dirty
    uint64_t version = 0; // newest put
    uint64_t since = 0; // oldest put that no finished store has covered
    Moment since_moment; // of that put
    Moment due; // when a store may start
    bool listed = false; // among the due
    bool taken = false; // by a flush, which owns its tries
    uint64_t flying = 0; // the version of the store under way; 0: none
    std::optional<std::pair<uint64_t, Moment>> put_in_flight; // the first one
    StoreOutcome last = StoreOutcome::kNotTried;
    int32_t misses = 0; // tries since the last put that found its state gone
  };

  explicit DirtyRecords(const DirtyTiming& timing) : timing_(timing) {}

  /// A new version, due after the debounce, but not later than the maximum
  /// delay after the oldest put that waits. `replace` false: nothing where the
  /// record is dirty already. The version, 0 for nothing.
  uint64_t put(const RecordKey& key, Moment now, bool replace);
  /// Takes the record out, whatever flies: its id, 0 where it was clean.
  uint64_t forget(const RecordKey& key);

  /// The record that has been due longest, if any is due now.
  Record* next_due(Moment now);
  /// When the next is due.
  std::optional<Moment> earliest() const;
  Record* find(uint64_t id);
  /// Ids of the records whose oldest waiting put is not after `mark`, oldest
  /// first.
  std::vector<uint64_t> dirty_since(uint64_t mark) const;

  /// The record must not fly already.
  Flight begin_flight(Record& record);
  /// Clears the version that flew where it is stored; what is newer stays
  /// dirty and is due. Nothing where the record was forgotten.
  void end_flight(const Flight& flight, StoreOutcome outcome, Moment now);
  /// From here on, and until release(), the record is not due.
  void take(uint64_t id);
  /// Due again: at once where a newer version than `tried` waits, else after
  /// the retry time, which doubles with each miss in a row, up to 64 times.
  void release(uint64_t id, uint64_t tried, Moment now);
  /// The version is on disk by another record: as though it had been stored.
  /// Nothing where a store flies or a newer version waits.
  void cover(uint64_t id, uint64_t version);

  int64_t size() const {
    return static_cast<int64_t>(by_id_.size());
  }
  /// Versions that were given out.
  uint64_t newest() const {
    return next_version_ - 1;
  }
  /// What the keys' tokens take.
  Bytes token_bytes() const {
    return token_bytes_;
  }

 private:
  Clock::Duration retry_after(const Record& record) const;
  void list(Record& record, Moment due);
  void unlist(Record& record);
  void stored(Record& record, uint64_t version);
  void erase(Record& record);

  const DirtyTiming timing_;
  std::unordered_map<RecordKey, Record, RecordKeyHash> records_;
  std::unordered_map<uint64_t, Record*> by_id_;
  std::set<std::pair<Moment, uint64_t>> due_;
  uint64_t next_version_ = 1;
  Bytes token_bytes_;
};

} // namespace holdfast
