// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/plan/convert_block.h"

#include <vector>

namespace holdfast {

namespace {

void convert_channel(
    const LayerGroup& group,
    const BlockConversion& conversion,
    int64_t layer,
    int64_t head,
    ChannelRole role) {
  const GroupPhase& from = group.phases[static_cast<size_t>(conversion.from)];
  const GroupPhase& to = group.phases[static_cast<size_t>(conversion.to)];
  const auto source = from.planes(conversion.source, layer, head, role);
  const auto target = to.planes(conversion.target, layer, head, role);
  const bool keys = role == ChannelRole::kKeys;
  std::vector<float> vector(
      static_cast<size_t>(keys ? group.key_dim : group.value_dim));
  for (int64_t slot = 0; slot < conversion.slots; ++slot) {
    from.codec(role).decode(role, source, slot, vector);
    to.codec(role).encode(role, vector, slot, target);
  }
}

} // namespace

void convert_block(
    const LayerGroup& group,
    const BlockConversion& conversion,
    Executor& executor) {
  const int64_t layers = std::ssize(group.layers);
  executor.for_each(layers * group.kv_heads * 2, [&](int64_t item, int) {
    const int64_t head = item / 2 % group.kv_heads;
    const int64_t layer = item / 2 / group.kv_heads;
    convert_channel(
        group,
        conversion,
        layer,
        head,
        item % 2 == 0 ? ChannelRole::kKeys : ChannelRole::kValues);
  });
}

} // namespace holdfast
