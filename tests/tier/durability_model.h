// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a coordinator with one writer must do, as a plain sequence: no threads,
// no sharing, every record looked at each time. Values; one thread.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace holdfast::tier_test {

class DurabilityModel {
 public:
  static constexpr size_t kKeys = 4; // each is a prefix of the next
  static constexpr int64_t kDebounce = 300; // ms
  static constexpr int64_t kMaxDelay = 1000;
  static constexpr int64_t kRetry = 5000;

  struct Record {
    std::optional<int64_t> ram; // number
    std::optional<int64_t> disk;
    bool dirty = false;
    std::optional<int64_t> flying; // number under way
    int64_t since = 0; // put that nothing on disk covers
    int64_t since_ms = 0;
    std::optional<std::pair<int64_t, int64_t>> put_in_flight; // put, ms
    int64_t due = 0; // ms
    int64_t listed = 0; // breaks ties: when the record became dirty
    bool missing = false;
    int64_t misses = 0; // in a row
  };

  struct Flushed {
    bool durable = false;
    int64_t flushed = 0;
    int64_t missing = 0;
    int64_t pending = 0;
  };

  void put(size_t k, int64_t number, bool replace) {
    Record& r = records[k];
    r.ram = number;
    if (r.dirty && !replace) {
      return;
    }
    ++puts_;
    if (!r.dirty) {
      r.dirty = true;
      r.since = r.listed = puts_;
      r.since_ms = now;
    } else if (r.flying && !r.put_in_flight) {
      r.put_in_flight = {puts_, now};
    }
    const int64_t oldest =
        r.put_in_flight ? r.put_in_flight->second : r.since_ms;
    r.due = std::min(now + kDebounce, oldest + kMaxDelay);
    r.misses = 0;
  }

  void poll() {
    for (;;) {
      const auto k = due();
      if (!k) {
        return;
      }
      start(*k);
    }
  }

  bool run_one() {
    if (queue.empty()) {
      return false;
    }
    const size_t k = queue.front();
    queue.pop_front();
    Record& r = records[k];
    const int64_t number = *r.flying;
    r.flying.reset();
    r.missing = false;
    r.misses = 0;
    if (failures > 0) {
      --failures;
      ++failed;
      r.due = r.put_in_flight ? r.due : now + kRetry;
      r.put_in_flight.reset();
      return true;
    }
    r.disk = number;
    r.dirty = r.put_in_flight.has_value();
    if (r.dirty) {
      std::tie(r.since, r.since_ms) = *r.put_in_flight;
      r.put_in_flight.reset();
    }
    return true;
  }

  Flushed flush() {
    const int64_t failed_before = failed;
    std::vector<size_t> covered;
    for (size_t k = 0; k < kKeys; ++k) {
      if (records[k].dirty) {
        covered.push_back(k);
      }
    }
    std::ranges::sort(covered, [&](size_t a, size_t b) {
      return records[a].since < records[b].since;
    });
    std::vector<size_t> flying;
    for (const size_t k : covered) {
      if (records[k].flying) {
        flying.push_back(k);
      } else {
        start(k);
      }
    }
    for (const size_t k : flying) {
      while (records[k].flying) {
        run_one();
      }
      if (records[k].dirty) {
        start(k);
      }
    }
    while (run_one()) {
    }
    return report(covered, failed == failed_before);
  }

  /// The process dies and another one begins.
  void crash() {
    for (Record& r : records) {
      r = {.ram = {}, .disk = r.disk, .flying = {}, .put_in_flight = {}};
    }
    queue.clear();
    failures = failed = 0;
  }

  int64_t dirty() const {
    return std::ranges::count_if(
        records, [](const Record& r) { return r.dirty; });
  }

  std::array<Record, kKeys> records;
  std::deque<size_t> queue;
  int64_t now = 0; // ms
  int64_t failures = 0; // of the stores to come
  int64_t failed = 0;
  bool restorable = true;

 private:
  bool is_covered(size_t k) const {
    return restorable &&
        std::any_of(
               records.begin() + k + 1, records.end(), [](const Record& r) {
                 return r.disk.has_value();
               });
  }

  static int64_t retry_after(const Record& r) {
    return kRetry << std::clamp<int64_t>(r.misses - 1, 0, 6);
  }

  std::optional<size_t> due() const {
    std::optional<size_t> first;
    for (size_t k = 0; k < kKeys; ++k) {
      const Record& r = records[k];
      if (!r.dirty || r.flying || r.due > now) {
        continue;
      }
      if (!first ||
          std::pair(r.due, r.listed) <
              std::pair(records[*first].due, records[*first].listed)) {
        first = k;
      }
    }
    return first;
  }

  void start(size_t k) {
    Record& r = records[k];
    r.missing = false;
    if (r.ram) {
      r.flying = r.ram;
      queue.push_back(k);
    } else if (is_covered(k)) {
      r.dirty = false;
    } else {
      r.missing = true;
      ++r.misses;
      r.due = now + retry_after(r);
    }
  }

  Flushed report(const std::vector<size_t>& covered, bool clean) {
    Flushed result;
    for (const size_t k : covered) {
      Record& r = records[k];
      if (r.dirty && r.missing && is_covered(k)) {
        r.dirty = false;
      }
      if (r.dirty) {
        r.due = now + retry_after(r);
      }
      result.flushed += r.dirty ? 0 : 1;
      result.missing += r.dirty && r.missing ? 1 : 0;
    }
    result.pending = dirty();
    result.durable = clean && result.pending == 0;
    return result;
  }

  int64_t puts_ = 0;
};

} // namespace holdfast::tier_test
