// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What making state durable costs beside the disk: a put on the caller's
// thread, a job's way through the queue, a record's through the coordinator.

#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "holdfast/tier/durability.h"

namespace holdfast {
namespace {

class BenchClock : public Clock {
 public:
  Moment now() const override {
    return Moment(std::chrono::steady_clock::now().time_since_epoch());
  }
  int64_t wall_ns() const override {
    return now().time_since_epoch().count();
  }
  void wait_until(
      std::unique_lock<std::mutex>& lock,
      std::condition_variable& wake,
      Moment until) override {
    wake.wait_for(lock, until - now());
  }
};

struct Content : RecordContent {
  Bytes bytes() const override {
    return Bytes(4096);
  }
};

struct Memory : RecordSource, RecordStore {
  Result<std::shared_ptr<const RecordContent>> make(const RecordKey&) override {
    return std::shared_ptr<const RecordContent>(std::make_shared<Content>());
  }
  Status store(const RecordKey&, uint64_t, const RecordContent&) override {
    return {};
  }
  bool is_durable(const RecordKey&, uint64_t) override {
    return false;
  }
  bool is_covered(const RecordKey&) override {
    return false;
  }
};

RecordKey key(int64_t tokens, int32_t first) {
  std::vector<int32_t> list(static_cast<size_t>(tokens), 7);
  list[0] = first;
  return {
      "chat", std::make_shared<const std::vector<int32_t>>(std::move(list))};
}

/// Jobs that do nothing, from one submitter to `writers` writers.
void jobs_through_the_queue(benchmark::State& state) {
  SpillQueue queue(
      {.clock = std::make_shared<BenchClock>(),
       .writers = static_cast<int>(state.range(0)),
       .spill_bytes = Bytes(int64_t{64} << 20)});
  std::vector<std::string> keys;
  for (int i = 0; i < 1024; ++i) {
    keys.push_back("record:" + std::to_string(i));
  }
  size_t next = 0;
  for (auto _ : state) {
    SpillJob job;
    job.key = keys[next++ % keys.size()];
    job.bytes = Bytes(4096);
    job.work = [] { return Status(); };
    if (queue.submit_waiting(std::move(job), {}) != Admission::kAdmitted) {
      state.SkipWithError("a job was not admitted");
    }
  }
  queue.drain();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(jobs_through_the_queue)->Arg(0)->Arg(1)->Arg(2)->UseRealTime();

/// A put of a record of so many tokens: new each time, or the same again.
void put(benchmark::State& state) {
  const bool fresh = state.range(1) != 0;
  const auto clock = std::make_shared<BenchClock>();
  Memory memory;
  SpillQueue queue({.clock = clock, .writers = 0});
  Durability durability(
      queue,
      memory,
      memory,
      {.clock = clock, .stored = {}, .background = false});
  std::vector<RecordKey> keys;
  for (int32_t i = 0; i < 256; ++i) {
    keys.push_back(key(state.range(0), i));
  }
  size_t next = 0;
  for (auto _ : state) {
    if (fresh && next == keys.size()) {
      state.PauseTiming();
      durability.poll();
      queue.drain();
      next = 0;
      state.ResumeTiming();
    }
    durability.put(keys[fresh ? next++ : 0]);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(put)
    ->ArgNames({"tokens", "fresh"})
    ->ArgsProduct({{64, 1024, 32768}, {0, 1}});

/// Put, background thread, queue, writer and back, as many as go.
void records_made_durable(benchmark::State& state) {
  const auto clock = std::make_shared<BenchClock>();
  Memory memory;
  SpillQueue queue({.clock = clock});
  Durability durability(queue, memory, memory, {.clock = clock, .stored = {}});
  std::vector<RecordKey> keys;
  for (int32_t i = 0; i < 1024; ++i) {
    keys.push_back(key(1024, i));
  }
  for (auto _ : state) {
    for (const RecordKey& of : keys) {
      durability.put(of);
    }
    if (!durability.flush().durable) {
      state.SkipWithError("not durable");
    }
  }
  state.SetItemsProcessed(
      state.iterations() * static_cast<int64_t>(keys.size()));
}
BENCHMARK(records_made_durable)->UseRealTime();

} // namespace
} // namespace holdfast
