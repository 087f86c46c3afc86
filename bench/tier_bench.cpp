// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Stored state on a real disk: what a store costs (a turn of one block; many
// blocks, GB/s with all its syncs), what mapping and comparing costs from warm
// memory (GB/s), and reading the manifest (nodes a second). --folder=PATH:
// where (default: the system's place for temporary files).

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/block/pool.h"
#include "holdfast/env/posix_file_system.h"
#include "holdfast/tier/disk_tier.h"

namespace holdfast {
namespace {

std::string place = std::filesystem::temp_directory_path().string();

/// A tier in a folder of its own, and images of one size.
struct Bench {
  Bench() {
    folder = place + "/tier_bench_XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) {
      throw Error(ErrorCode::kIo, "cannot make " + folder);
    }
    DiskTierOptions options;
    options.folder = folder + "/state";
    options.verify = Verify::kAlways;
    options.files = posix_file_system();
    options.clock = system_clock();
    tier = std::move(DiskTier::open(std::move(options))).value();
    scope = tier->scope({"bench"}).value();
  }
  ~Bench() {
    tier.reset();
    std::filesystem::remove_all(folder);
  }

  /// A chain of blocks that nobody stored before.
  StoreBatch batch(int64_t blocks, BlockPool& pool) {
    StoreBatch batch;
    batch.scope = scope;
    for (int64_t i = 0; i < blocks; ++i) {
      NodeToStore node;
      node.parent_in_batch = i - 1;
      node.tokens.assign(64, next);
      node.key = {0, static_cast<uint64_t>(next++)};
      const BlockRef block = pool.allocate(0);
      std::memset(
          block.mutable_image(),
          next,
          static_cast<size_t>(block.bytes().get()));
      block.seal();
      node.images = {{{}, block, {}}};
      batch.nodes.push_back(std::move(node));
    }
    return batch;
  }

  std::string folder;
  std::unique_ptr<DiskTier> tier;
  ScopeId scope;
  int32_t next = 1;
};

/// range: blocks a store, KiB a block.
void store(benchmark::State& state) {
  Bench bench;
  const Bytes image(state.range(1) << 10);
  BlockPool pool({image});
  for (auto _ : state) {
    state.PauseTiming();
    const StoreBatch batch = bench.batch(state.range(0), pool);
    state.ResumeTiming();
    benchmark::DoNotOptimize(bench.tier->store(batch).value());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * image.get());
}
BENCHMARK(store)
    ->Args({1, 192})
    ->Args({128, 192})
    ->Args({512, 192})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

/// range: blocks, KiB a block. Each round maps and compares all anew.
void map(benchmark::State& state) {
  Bench bench;
  const Bytes image(state.range(1) << 10);
  BlockPool pool({image});
  const Stored stored =
      bench.tier->store(bench.batch(state.range(0), pool)).value();
  for (auto _ : state) {
    for (const auto& extents : stored.images) {
      benchmark::DoNotOptimize(bench.tier->map(extents[0]).value());
    }
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * image.get());
}
BENCHMARK(map)->Args({512, 192})->UseRealTime()->Unit(benchmark::kMillisecond);

class Counter : public TierVisitor {
 public:
  void begin() override {}
  void scope(ScopeId, const ScopeText&) override {}
  void node(StoredNode) override {
    ++nodes;
  }
  void record(StoredRecord) override {}
  int64_t nodes = 0;
};

/// range: nodes.
void load(benchmark::State& state) {
  Bench bench;
  BlockPool pool({Bytes(4096)});
  for (int64_t left = state.range(0); left > 0; left -= 1000) {
    bench.tier->store(bench.batch(1000, pool)).value();
  }
  Counter counter;
  for (auto _ : state) {
    bench.tier->load(counter).check();
  }
  state.SetItemsProcessed(counter.nodes);
}
BENCHMARK(load)->Arg(20000)->UseRealTime()->Unit(benchmark::kMillisecond);

} // namespace
} // namespace holdfast

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const std::string option = "--folder=";
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]).starts_with(option)) {
      holdfast::place = std::string(argv[i]).substr(option.size());
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
