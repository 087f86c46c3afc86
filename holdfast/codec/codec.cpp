// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/codec.h"

namespace holdfast {

void Codec::encode_run(
    ChannelRole role,
    const VectorRun& vectors,
    int64_t slot,
    std::span<std::byte* const> planes) const {
  for (int64_t i = 0; i < vectors.count; ++i) {
    encode(role, vectors[i], slot + i, planes);
  }
}

void Codec::decode_run(
    ChannelRole role,
    std::span<const std::byte* const> planes,
    int64_t slot,
    int64_t head_dim,
    std::span<float> vectors) const {
  const int64_t count = std::ssize(vectors) / head_dim;
  for (int64_t i = 0; i < count; ++i) {
    decode(role, planes, slot + i, vectors.subspan(i * head_dim, head_dim));
  }
}

} // namespace holdfast
