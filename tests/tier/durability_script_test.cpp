// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Random scripts of puts, evictions, failures, time, flushes and crashes, of
// the coordinator and of its model.

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <ostream>
#include <vector>

#include "holdfast/env/manual_clock.h"
#include "holdfast/tier/durability.h"
#include "tests/tier/durability_model.h"
#include "tests/tier/record_fakes.h"

namespace holdfast {
namespace {

using std::chrono::milliseconds;
using tier_test::DurabilityModel;
using tier_test::record_key;

enum class Verb {
  kPut,
  kPutIfClean,
  kEvict,
  kFail, // the next stores
  kWait,
  kWrite, // one job of the queue
  kFlush,
  kCover, // whether longer records can serve shorter ones
  kCrash,
};

struct Command {
  Verb verb = Verb::kPut;
  uint32_t number = 0;
};

std::ostream& operator<<(std::ostream& out, const Command& command) {
  constexpr const char* kNames[] = {
      "put",
      "put if clean",
      "evict",
      "fail",
      "wait",
      "write",
      "flush",
      "cover",
      "crash"};
  return out << kNames[static_cast<int>(command.verb)] << ' ' << command.number;
}

rc::Gen<std::vector<Command>> scripts() {
  const auto verb = rc::gen::weightedElement<Verb>({
      {8, Verb::kPut},
      {2, Verb::kPutIfClean},
      {2, Verb::kEvict},
      {2, Verb::kFail},
      {8, Verb::kWait},
      {6, Verb::kWrite},
      {3, Verb::kFlush},
      {1, Verb::kCover},
      {1, Verb::kCrash},
  });
  return rc::gen::container<std::vector<Command>>(rc::gen::build<Command>(
      rc::gen::set(&Command::verb, verb),
      rc::gen::set(&Command::number, rc::gen::inRange<uint32_t>(0, 1000))));
}

RecordKey key(size_t k) {
  std::vector<int32_t> tokens;
  for (size_t i = 0; i <= k; ++i) {
    tokens.push_back(static_cast<int32_t>(i));
  }
  return record_key(tokens);
}

class Pair {
 public:
  Pair() {
    start();
  }

  void apply(const Command& command) {
    const size_t k = command.number % DurabilityModel::kKeys;
    switch (command.verb) {
      case Verb::kPut:
      case Verb::kPutIfClean:
        put(k, command.verb == Verb::kPut);
        break;
      case Verb::kEvict:
        model_.records[k].ram.reset();
        real_->ram.evict(key(k));
        break;
      case Verb::kFail:
        model_.failures = command.number % 3;
        disk_.failures = command.number % 3;
        break;
      case Verb::kWait:
        model_.now += command.number;
        clock_->advance(milliseconds(command.number));
        model_.poll();
        real_->durability.poll();
        break;
      case Verb::kWrite:
        RC_ASSERT(model_.run_one() == real_->queue.run_one());
        break;
      case Verb::kFlush:
        flush();
        break;
      case Verb::kCover:
        model_.restorable = disk_.restorable = command.number % 2 == 0;
        break;
      case Verb::kCrash:
        crash();
        break;
    }
    compare();
  }

 private:
  struct Real {
    Real(std::shared_ptr<Clock> clock, tier_test::FakeDisk& disk)
        : queue({.clock = clock, .writers = 0}),
          durability(
              queue,
              ram,
              disk,
              {.clock = clock,
               .debounce = milliseconds(DurabilityModel::kDebounce),
               .max_delay = milliseconds(DurabilityModel::kMaxDelay),
               .retry = milliseconds(DurabilityModel::kRetry),
               .stored = {},
               .background = false}) {}
    tier_test::FakeRam ram;
    SpillQueue queue;
    Durability durability;
  };

  void start() {
    real_ = std::make_unique<Real>(clock_, disk_);
  }

  void put(size_t k, bool replace) {
    model_.put(k, ++number_, replace);
    real_->ram.set(key(k), number_);
    if (replace) {
      real_->durability.put(key(k));
    } else {
      real_->durability.put_if_clean(key(k));
    }
  }

  void flush() {
    const auto expected = model_.flush();
    const FlushReport report = real_->durability.flush();
    RC_ASSERT(report.durable == expected.durable);
    RC_ASSERT(report.flushed == expected.flushed);
    RC_ASSERT(report.missing == expected.missing);
    RC_ASSERT(report.pending == expected.pending);
    RC_ASSERT(report.dropped == 0);
    if (report.durable) {
      for (size_t k = 0; k < DurabilityModel::kKeys; ++k) {
        acknowledged_[k] = model_.records[k].disk.value_or(-1);
      }
    }
  }

  void crash() {
    // What was written may be read by a process that knows nothing else.
    disk_.failures = 1'000'000; // a destructor must not write either
    start();
    disk_.failures = 0;
    disk_.restart();
    model_.crash();
    for (size_t k = 0; k < DurabilityModel::kKeys; ++k) {
      RC_ASSERT(disk_.number(key(k)) >= acknowledged_[k]);
    }
  }

  void compare() {
    for (size_t k = 0; k < DurabilityModel::kKeys; ++k) {
      RC_ASSERT(disk_.number(key(k)) == model_.records[k].disk.value_or(-1));
    }
    const DurabilityStats stats = real_->durability.stats();
    RC_ASSERT(stats.pending_records == model_.dirty());
    RC_ASSERT(
        stats.pending_writes == static_cast<int64_t>(model_.queue.size()));
    RC_ASSERT(stats.failed == model_.failed);
    RC_ASSERT(stats.dropped == 0);
  }

  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  tier_test::FakeDisk disk_;
  std::unique_ptr<Real> real_;
  DurabilityModel model_;
  int64_t number_ = 0;
  std::array<int64_t, DurabilityModel::kKeys> acknowledged_{-1, -1, -1, -1};
};

RC_GTEST_PROP(DurabilityScript, DoesWhatThePlainSequenceDoes, ()) {
  const auto script = *scripts();
  Pair pair;
  for (const Command& command : script) {
    pair.apply(command);
  }
}

/// The same with long scripts, where chains of events have room.
TEST(DurabilityScript, DoesWhatThePlainSequenceDoesInLongScripts) {
  const bool right = rc::check([] {
    const auto script = *rc::gen::resize(400, scripts());
    Pair pair;
    for (const Command& command : script) {
      pair.apply(command);
    }
  });
  EXPECT_TRUE(right);
}

} // namespace
} // namespace holdfast
