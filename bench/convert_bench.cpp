// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What codecs cost to write, on one core: whole blocks from bf16, as a row that
// enters its next precision phase converts them (GB/s of the dense bytes), and
// a decode step's append, one key and one value of a head (ns).

#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <vector>

#include "holdfast/block/pool.h"
#include "holdfast/plan/convert_block.h"
#include "holdfast/plan/group.h"

namespace holdfast {
namespace {

constexpr int64_t kLayers = 8;
constexpr int64_t kBlocks = 16; // used in turn, so that they come from memory

std::vector<float> normal_vector(int64_t dim, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> vector(dim);
  for (float& x : vector) {
    x = normal(random);
  }
  return vector;
}

/// Layers of one head each, in bf16 and then in `to`.
LayerGroups groups_to(const Codec* to, int64_t dim) {
  const Codec* bf16 = find_codec("bf16").value();
  LayerState layer;
  layer.attention.query_heads = layer.attention.kv_heads = 1;
  layer.attention.key_dim = layer.attention.value_dim = dim;
  layer.phases = {
      {.keys = bf16, .values = bf16},
      {.keys = to, .values = to, .start = Position(64)}};
  return LayerGroups(std::vector<LayerState>(kLayers, layer));
}

void fill(const LayerGroup& group, std::byte* image, std::mt19937& random) {
  const GroupPhase& phase = group.phases[0];
  for (int64_t layer = 0; layer < kLayers; ++layer) {
    for (const auto role : {ChannelRole::kKeys, ChannelRole::kValues}) {
      const auto planes = phase.planes(image, layer, 0, role);
      for (int64_t slot = 0; slot < kBlockTokens; ++slot) {
        phase.codec(role).encode(
            role, normal_vector(group.key_dim, random), slot, planes);
      }
    }
  }
}

void convert(benchmark::State& state, const Codec* to, int64_t dim) {
  const LayerGroups groups = groups_to(to, dim);
  BlockPool pool(groups.image_bytes());
  std::vector<BlockRef> sources, targets;
  std::mt19937 random(1);
  for (int64_t i = 0; i < kBlocks; ++i) {
    sources.push_back(pool.allocate(0));
    targets.push_back(pool.allocate(1));
    fill(groups.group(0), sources.back().mutable_image(), random);
  }
  Executor executor(1);
  size_t block = 0;
  for (auto _ : state) {
    convert_block(
        groups.group(0),
        {.group = 0,
         .from = 0,
         .to = 1,
         .source = sources[block].image(),
         .target = targets[block].mutable_image(),
         .slots = kBlockTokens},
        executor);
    block = (block + 1) % kBlocks;
  }
  const auto dense = static_cast<double>(kLayers * 2 * kBlockTokens * dim * 2);
  state.counters["GB/s"] = benchmark::Counter(
      dense * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

void append(benchmark::State& state, const Codec* codec, int64_t dim) {
  const LayerGroups groups = groups_to(codec, dim);
  BlockPool pool(groups.image_bytes());
  const BlockRef block = pool.allocate(1);
  const GroupPhase& phase = groups.group(0).phases[1];
  const auto keys =
      phase.planes(block.mutable_image(), 0, 0, ChannelRole::kKeys);
  const auto values =
      phase.planes(block.mutable_image(), 0, 0, ChannelRole::kValues);
  std::mt19937 random(1);
  const std::vector<float> vector = normal_vector(dim, random);
  int64_t slot = 0;
  for (auto _ : state) {
    const VectorRun run{vector.data(), dim, 1, dim};
    codec->encode_run(ChannelRole::kKeys, run, slot, keys);
    codec->encode_run(ChannelRole::kValues, run, slot, values);
    slot = (slot + 1) % kBlockTokens;
  }
}

/// Each codec of each head size that it stores.
bool register_all() {
  for (const int64_t dim : {64, 80, 96, 128, 192, 256}) {
    for (const Codec* codec : all_codecs()) {
      const std::string name = codec->name();
      if (!codec->supports(ChannelRole::kKeys, dim).ok() || name == "bf16") {
        continue;
      }
      const std::string rest = "/" + name + "/" + std::to_string(dim);
      benchmark::RegisterBenchmark(
          ("convert" + rest).c_str(),
          [=](benchmark::State& state) { convert(state, codec, dim); })
          ->Unit(benchmark::kMicrosecond);
      benchmark::RegisterBenchmark(
          ("append" + rest).c_str(),
          [=](benchmark::State& state) { append(state, codec, dim); });
    }
  }
  return true;
}
[[maybe_unused]] const bool kRegistered = register_all();

} // namespace
} // namespace holdfast
