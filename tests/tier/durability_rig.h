// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A coordinator over fakes, on one thread: nothing happens but by a call.

#pragma once

#include <memory>

#include "holdfast/env/manual_clock.h"
#include "holdfast/tier/durability.h"
#include "tests/tier/record_fakes.h"

namespace holdfast::tier_test {

struct DurabilityRig {
  explicit DurabilityRig(
      Clock::Duration debounce = {},
      Bytes queue_bytes = Bytes(1000))
      : queue({.clock = clock, .writers = 0, .spill_bytes = queue_bytes}),
        durability(
            queue,
            ram,
            disk,
            {.clock = clock,
             .debounce = debounce,
             .stored = [this](const RecordKey& key) { stored(key); },
             .background = false}) {}

  /// New content in RAM, and then told.
  uint64_t put(const RecordKey& key, int64_t number) {
    ram.set(key, number);
    return durability.put(key);
  }
  /// What would happen by itself by now.
  void settle() {
    durability.poll();
    queue.drain();
  }
  int64_t dirty() const {
    return durability.stats().pending_records;
  }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  FakeRam ram;
  FakeDisk disk;
  std::function<void(const RecordKey&)> stored = [](const RecordKey&) {};
  SpillQueue queue;
  Durability durability;
};

} // namespace holdfast::tier_test
