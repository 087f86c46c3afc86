// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/plan/blank_tail.h"

#include <algorithm>
#include <vector>

#include "holdfast/block/layout.h"

namespace holdfast {

namespace {

void blank_channel(
    const LayerGroup& group,
    const TailImage& tail,
    int64_t layer,
    ChannelRole role) {
  const GroupPhase& phase = group.phases[static_cast<size_t>(tail.phase)];
  const int64_t slot = tail.committed.get() % kBlockTokens;
  const int64_t dim =
      role == ChannelRole::kKeys ? group.key_dim : group.value_dim;
  const std::vector<float> zeros(static_cast<size_t>(dim));
  // One vector, which stands for that of every slot.
  const VectorRun vectors{
      .first = zeros.data(),
      .stride = 0,
      .count = kBlockTokens - slot,
      .dim = dim};
  for (int64_t head = 0; head < group.kv_heads; ++head) {
    const auto planes = phase.planes(tail.image, layer, head, role);
    phase.codec(role).encode_run(role, vectors, slot, planes);
  }
}

void blank_head(
    const LayerGroup& group,
    const TailImage& tail,
    int64_t layer,
    int64_t head) {
  const RecurrentSpec& spec = *group.recurrent;
  const ImageLayout& layout = group.phases.front().layout;
  const auto plane = [&](RecurrentPlane index) {
    return tail.image + layout.offset(layer, head, index).get();
  };
  const int64_t slot = tail.committed.get() % kBlockTokens;
  const int64_t left = kBlockTokens - slot;
  const auto clear = [](std::byte* floats, int64_t first, int64_t count) {
    std::fill_n(reinterpret_cast<float*>(floats) + first, count, 0.0f);
  };
  clear(
      plane(kRecurrentInputs),
      (spec.taps - 1 + slot) * spec.head_width(),
      left * spec.head_width());
  const int64_t gates = 2 * spec.sharing();
  clear(plane(kRecurrentGates), slot * gates, left * gates);
  auto* mark = reinterpret_cast<int64_t*>(plane(kRecurrentMark));
  if (*mark == 0 || *mark > tail.committed.get()) {
    *mark = 0;
    clear(plane(kRecurrentRunning), 0, spec.head_state());
  }
}

} // namespace

void blank_tail(const LayerGroup& group, const TailImage& tail) {
  if (tail.committed.get() % kBlockTokens == 0) {
    return;
  }
  for (int64_t layer = 0; layer < std::ssize(group.layers); ++layer) {
    if (group.recurrent) {
      for (int64_t head = 0; head < group.recurrent->key_heads; ++head) {
        blank_head(group, tail, layer, head);
      }
      continue;
    }
    blank_channel(group, tail, layer, ChannelRole::kKeys);
    blank_channel(group, tail, layer, ChannelRole::kValues);
  }
}

} // namespace holdfast
