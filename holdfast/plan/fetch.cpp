// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/plan/fetch.h"

#include "holdfast/base/check.h"

namespace holdfast {

namespace {

/// Where one position of one layer lies.
struct Slot {
  const GroupPhase& phase;
  const std::byte* image;
  int64_t layer; // within the group
  int64_t heads;
  int64_t slot;

  /// out: [heads, dim], grows by them.
  void decode(ChannelRole role, int64_t dim, std::vector<float>& out) const {
    const size_t begin = out.size();
    out.resize(begin + static_cast<size_t>(heads * dim));
    const std::span<float> vectors = std::span(out).subspan(begin);
    for (int64_t head = 0; head < heads; ++head) {
      phase.codec(role).decode(
          role,
          phase.planes(image, layer, head, role),
          slot,
          vectors.subspan(
              static_cast<size_t>(head * dim), static_cast<size_t>(dim)));
    }
  }
};

} // namespace

FetchedChannels fetch_channels(
    const Chains& chains,
    const LayerGroups& groups,
    RowId row,
    LayerIndex layer) {
  expect(
      layer >= LayerIndex(0) && layer.get() < groups.layers(),
      "[fetch] expected a layer of the state, got one out of range");
  const LayerPlace place = groups.place(layer);
  const LayerGroup& group = groups.group(place.group);
  expect(
      !group.recurrent,
      "[fetch] expected a layer with keys and values, got a recurrent one",
      ErrorCode::kUnsupported);
  const auto blocks = chains.blocks(row, place.group);
  FetchedChannels result{
      .positions = {},
      .heads = group.kv_heads,
      .key_dim = group.key_dim,
      .value_dim = group.value_dim,
      .keys = {},
      .values = {}};
  const int64_t committed = chains.chain(row).committed().get();
  for (int64_t p = 0; p < committed; ++p) {
    const BlockRef& block = blocks[static_cast<size_t>(p / kBlockTokens)];
    if (!block) {
      continue;
    }
    const int64_t phase = chains.phase_of_kind(place.group, block.kind());
    const Slot at{
        .phase = group.phases[static_cast<size_t>(phase)],
        .image = block.image(),
        .layer = place.layer,
        .heads = group.kv_heads,
        .slot = p % kBlockTokens};
    at.decode(ChannelRole::kKeys, group.key_dim, result.keys);
    at.decode(ChannelRole::kValues, group.value_dim, result.values);
    result.positions.push_back(p);
  }
  return result;
}

} // namespace holdfast
