// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/dirty_records.h"

#include <algorithm>
#include <tuple>

#include "holdfast/base/check.h"

namespace holdfast {

namespace {

Bytes token_bytes_of(const RecordKey& key) {
  return Bytes(static_cast<int64_t>(key.tokens->size() * sizeof(int32_t)));
}

} // namespace

uint64_t DirtyRecords::put(const RecordKey& key, Moment now, bool replace) {
  const auto [at, fresh] = records_.try_emplace(key);
  Record& record = at->second;
  if (!fresh && !replace) {
    return 0;
  }
  const uint64_t version = next_version_++;
  record.version = version;
  record.misses = 0;
  if (fresh) {
    record.key = key;
    record.id = record.since = version;
    record.since_moment = now;
    by_id_.emplace(version, &record);
    token_bytes_ += token_bytes_of(key);
  } else if (record.flying != 0 && !record.put_in_flight) {
    record.put_in_flight = {version, now};
  }
  const Moment oldest =
      record.put_in_flight ? record.put_in_flight->second : record.since_moment;
  list(record, std::min(now + timing_.debounce, oldest + timing_.max_delay));
  return version;
}

uint64_t DirtyRecords::forget(const RecordKey& key) {
  const auto at = records_.find(key);
  if (at == records_.end()) {
    return 0;
  }
  const uint64_t id = at->second.id;
  erase(at->second);
  return id;
}

DirtyRecords::Record* DirtyRecords::next_due(Moment now) {
  if (due_.empty() || due_.begin()->first > now) {
    return nullptr;
  }
  return by_id_.at(due_.begin()->second);
}

std::optional<DirtyRecords::Moment> DirtyRecords::earliest() const {
  if (due_.empty()) {
    return std::nullopt;
  }
  return due_.begin()->first;
}

DirtyRecords::Record* DirtyRecords::find(uint64_t id) {
  const auto at = by_id_.find(id);
  return at == by_id_.end() ? nullptr : at->second;
}

std::vector<uint64_t> DirtyRecords::dirty_since(uint64_t mark) const {
  std::vector<std::pair<uint64_t, uint64_t>> found;
  for (const auto& [id, record] : by_id_) {
    if (record->since <= mark) {
      found.emplace_back(record->since, id);
    }
  }
  std::ranges::sort(found);
  std::vector<uint64_t> ids;
  ids.reserve(found.size());
  for (const auto& [since, id] : found) {
    ids.push_back(id);
  }
  return ids;
}

Flight DirtyRecords::begin_flight(Record& record) {
  ensure(
      record.flying == 0,
      "[DirtyRecords] expected one store of a record at a time, got two");
  unlist(record);
  record.flying = record.version;
  return {.key = record.key, .id = record.id, .version = record.version};
}

void DirtyRecords::end_flight(
    const Flight& flight,
    StoreOutcome outcome,
    Moment now) {
  Record* record = find(flight.id);
  if (!record || record->flying != flight.version) {
    return; // forgotten, and perhaps put again
  }
  record->flying = 0;
  record->last = outcome;
  record->misses = outcome == StoreOutcome::kMissing ? record->misses + 1 : 0;
  if (outcome == StoreOutcome::kStored) {
    stored(*record, flight.version);
    return;
  }
  const bool newer = record->put_in_flight.has_value();
  record->put_in_flight.reset(); // the oldest that waits is still `since`
  list(*record, newer ? record->due : now + retry_after(*record));
}

// What is gone comes back by a put, or by another record on disk: rarely.
Clock::Duration DirtyRecords::retry_after(const Record& record) const {
  constexpr int32_t kMostDoublings = 6;
  return timing_.retry *
      (int64_t{1} << std::clamp(record.misses - 1, 0, kMostDoublings));
}

void DirtyRecords::take(uint64_t id) {
  Record& record = *by_id_.at(id);
  unlist(record);
  record.taken = true;
}

void DirtyRecords::release(uint64_t id, uint64_t tried, Moment now) {
  Record* record = find(id);
  if (!record || !record->taken) {
    return;
  }
  record->taken = false;
  list(*record, record->version > tried ? now : now + retry_after(*record));
}

void DirtyRecords::cover(uint64_t id, uint64_t version) {
  Record* record = find(id);
  if (record && record->flying == 0 && record->version == version) {
    stored(*record, version);
  }
}

void DirtyRecords::stored(Record& record, uint64_t version) {
  if (record.version == version) {
    erase(record);
    return;
  }
  ensure(
      record.put_in_flight.has_value(),
      "[DirtyRecords] expected a newer version's put, got none");
  std::tie(record.since, record.since_moment) = *record.put_in_flight;
  record.put_in_flight.reset();
  list(record, record.due);
}

void DirtyRecords::list(Record& record, Moment due) {
  unlist(record);
  record.due = due;
  if (record.flying == 0 && !record.taken) {
    due_.emplace(due, record.id);
    record.listed = true;
  }
}

void DirtyRecords::unlist(Record& record) {
  if (record.listed) {
    due_.erase({record.due, record.id});
    record.listed = false;
  }
}

void DirtyRecords::erase(Record& record) {
  unlist(record);
  token_bytes_ -= token_bytes_of(record.key);
  by_id_.erase(record.id);
  records_.erase(records_.find(RecordKey(record.key)));
}

} // namespace holdfast
