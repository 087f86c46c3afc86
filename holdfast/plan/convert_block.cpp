// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/plan/convert_block.h"

#include "holdfast/codec/convert.h"

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
  convert_slots(
      from.codec(role),
      to.codec(role),
      {.role = role,
       .head_dim = keys ? group.key_dim : group.value_dim,
       .slots = conversion.slots,
       .from = source,
       .to = target});
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
