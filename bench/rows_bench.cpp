// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What rows cost beside a decode step (some 10 ms for a small model): a step's
// places and plan, and batch operations. The groups are those of an 18-layer
// model of which three layers see everything.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "holdfast/plan/chains.h"
#include "holdfast/plan/group.h"

namespace holdfast {
namespace {

constexpr int64_t kDepth = 32000;

std::vector<LayerState> layers(const std::vector<LayerPhase>& phases) {
  std::vector<LayerState> result;
  for (int64_t i = 0; i < 18; ++i) {
    LayerState layer;
    layer.attention.query_heads = 4;
    layer.attention.kv_heads = 1;
    layer.attention.key_dim = layer.attention.value_dim = 256;
    layer.attention.visibility.window = i % 6 == 5 ? 0 : 512;
    layer.phases = phases;
    result.push_back(layer);
  }
  return result;
}

/// Rows at a depth.
struct Rows {
  explicit Rows(int64_t count, int64_t depth = kDepth)
      : groups(layers({{.keys = codec("bf16"), .values = codec("bf16")}})),
        pool(groups.image_bytes()),
        chains(pool, groups.rules()) {
    for (int64_t i = 0; i < count; ++i) {
      const RowId row = chains.add();
      for (int64_t done = 0; done < depth; done += 500) {
        chains.begin(std::vector<RowAppend>{{row, 500}}).commit_all();
      }
      appends.push_back({row, 1});
    }
  }
  static const Codec* codec(const std::string& name) {
    return find_codec(name).value();
  }
  LayerGroups groups;
  BlockPool pool;
  Chains chains;
  std::vector<RowAppend> appends;
};

void step(benchmark::State& state) {
  Rows rows(state.range(0));
  for (auto _ : state) {
    rows.chains.begin(rows.appends).rollback();
  }
}
BENCHMARK(step)->Arg(1)->Arg(8)->Unit(benchmark::kMicrosecond);

void fork_and_remove(benchmark::State& state) {
  Rows rows(1);
  for (auto _ : state) {
    rows.chains.remove(rows.chains.fork(rows.appends[0].row));
  }
}
BENCHMARK(fork_and_remove)->Unit(benchmark::kMicrosecond);

void move_there_and_back(benchmark::State& state) {
  Rows rows(8);
  Chains other(rows.pool, rows.groups.rules());
  for (auto _ : state) {
    other.adopt(rows.chains, rows.chains.order());
    rows.chains.adopt(other, other.order());
  }
}
BENCHMARK(move_there_and_back)->Unit(benchmark::kMicrosecond);

void reorder_and_filter(benchmark::State& state) {
  Rows rows(8);
  std::vector<RowId> order(
      rows.chains.order().begin(), rows.chains.order().end());
  for (auto _ : state) {
    std::rotate(order.begin(), order.begin() + 3, order.end());
    rows.chains.reorder(order);
    rows.chains.filter(order);
  }
}
BENCHMARK(reorder_and_filter)->Unit(benchmark::kMicrosecond);

} // namespace
} // namespace holdfast
