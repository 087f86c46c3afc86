// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a lookup in an index of a million blocks costs, by blocks matched; what
// a turn costs to put in; what a node takes. Blocks are on disk, as after a
// restart: of two layer groups, one with a window of 512.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <vector>

#include "holdfast/block/layout.h"
#include "holdfast/prefix/prefix_tree.h"

namespace holdfast {
namespace {

constexpr int64_t kBlocks = int64_t{1} << 20;
constexpr int64_t kChatBlocks = 512; // 32k tokens

std::vector<int32_t> chat(int64_t number) {
  std::mt19937 random(static_cast<uint32_t>(number));
  std::vector<int32_t> tokens(kChatBlocks * kBlockTokens + 1);
  for (int32_t& token : tokens) {
    token = static_cast<int32_t>(random() % 100000);
  }
  return tokens;
}

/// kBlocks nodes in chats that share their first block by sixteens.
struct Index {
  Index() : tree({.budget = Bytes(int64_t{16} << 30)}) {
    scope = tree.open(
        Scope(Signature(std::vector<Signature::Field>{{"model", "bench"}})),
        {GroupRule{}, GroupRule{.window = 512}});
    int64_t id = 0;
    int64_t shared = 0;
    for (int64_t i = 0; i < kBlocks / kChatBlocks; ++i) {
      const auto tokens = prompt(i);
      NodeId parent;
      for (int64_t block = 0; block < kChatBlocks; ++block) {
        const bool known = block == 0 && i % 16 != 0;
        const auto begin = tokens.begin() + block * kBlockTokens;
        const StoredNode node{
            .id = NodeId(known ? shared : ++id),
            .scope = ScopeId(1),
            .parent = parent,
            .key = {},
            .tokens = {begin, begin + kBlockTokens},
            .marks = {},
            .images = {image(0, id), image(1, id)}};
        (void)tree.add_stored(scope, node).value();
        parent = node.id;
        shared = block == 0 ? parent.get() : shared;
      }
    }
  }
  static StoredImage image(int32_t group, int64_t id) {
    return {{group, 0}, {SegmentId(1), Bytes(id * 8192), Bytes(4096)}};
  }
  static std::vector<int32_t> prompt(int64_t i) {
    auto tokens = chat(i);
    const auto first = chat(i - i % 16);
    std::copy_n(first.begin(), kBlockTokens, tokens.begin());
    return tokens;
  }
  PrefixTree tree;
  ScopeHandle scope;
};

Index& index() {
  static Index made;
  return made;
}

/// Arg: blocks that match; the prompts are of chats nobody looked at lately.
void lookup(benchmark::State& state) {
  Index& in = index();
  const auto length = static_cast<size_t>(state.range(0) * kBlockTokens + 1);
  std::vector<std::vector<int32_t>> prompts;
  for (int64_t i = 0; i < 256; ++i) {
    prompts.push_back(Index::prompt(i * 7 + 3));
    prompts.back().resize(length);
  }
  size_t next = 0;
  for (auto _ : state) {
    const auto& prompt = prompts[next++ % prompts.size()];
    const Usable found = in.tree.usable(in.scope, {.tokens = prompt});
    if (found.length.get() != state.range(0) * kBlockTokens) {
      state.SkipWithError("expected all blocks, got fewer");
      break;
    }
  }
  const TreeStats stats = in.tree.stats();
  state.counters["blocks"] = static_cast<double>(stats.nodes);
  state.counters["bytes_per_node"] = static_cast<double>(
      stats.index_bytes.get() / std::max<int64_t>(1, stats.nodes));
}
BENCHMARK(lookup)->Arg(1)->Arg(16)->Arg(64)->Arg(512)->Unit(
    benchmark::kMicrosecond);

void lookup_nothing(benchmark::State& state) {
  Index& in = index();
  const auto prompt = chat(-5);
  for (auto _ : state) {
    benchmark::DoNotOptimize(in.tree.usable(in.scope, {.tokens = prompt}));
  }
}
BENCHMARK(lookup_nothing)->Unit(benchmark::kMicrosecond);

/// The end of a 32k prompt is another: 64 blocks are gone back over at most.
void lookup_of_another_end(benchmark::State& state) {
  Index& in = index();
  auto prompt = Index::prompt(5);
  prompt[400 * kBlockTokens + 20] = -1;
  for (auto _ : state) {
    benchmark::DoNotOptimize(in.tree.usable(in.scope, {.tokens = prompt}));
  }
}
BENCHMARK(lookup_of_another_end)->Unit(benchmark::kMicrosecond);

} // namespace
} // namespace holdfast
