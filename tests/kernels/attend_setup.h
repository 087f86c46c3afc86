// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What tests of append_and_attend vary: codecs, paths, specs. One thread.

#pragma once

#include <cmath>
#include <vector>

#include "holdfast/codec/codec.h"
#include "holdfast/env/cpu.h"
#include "holdfast/kernels/cpu/attend_plan.h"
#include "holdfast/plan/layer_spec.h"
#include "tests/kernel_paths.h"

namespace holdfast::cpu {

/// A value in [-1, 1) that follows from its arguments alone.
inline float random_value(uint64_t seed, uint64_t position, uint64_t index) {
  uint64_t x = seed * 0x9e3779b97f4a7c15u + position * 0xbf58476d1ce4e5b9u +
      index * 0x94d049bb133111ebu;
  x = (x ^ (x >> 31)) * 0xd6e8feb86659fd93u;
  x = (x ^ (x >> 29)) * 0xd6e8feb86659fd93u;
  return static_cast<float>(static_cast<int64_t>(x)) * 0x1p-63f;
}

inline const Codec& codec_named(const char* name) {
  return *find_codec(name).value();
}

inline std::vector<const Codec*> dense_codecs() {
  std::vector<const Codec*> codecs = all_codecs();
  std::erase_if(codecs, [](const Codec* codec) {
    return codec->form().kind != CodecKind::kDense;
  });
  return codecs;
}

using holdfast::test::paths_here;

struct AttendSetup {
  AttentionSpec spec;
  const Codec* keys = &codec_named("bf16");
  const Codec* values = &codec_named("bf16");
  KernelPath path = best_kernel_path();
  int threads = 1;
  int64_t kept_floats = kKeptFloats; // of AttendCut
};

inline AttentionSpec
small_spec(int64_t query_heads, int64_t kv_heads, int64_t dim) {
  return {
      .query_heads = query_heads,
      .kv_heads = kv_heads,
      .key_dim = dim,
      .value_dim = dim,
      .scale = 3.0f / std::sqrt(static_cast<float>(dim)),
      .visibility = {},
      .sink_logits = {}};
}

/// Heads of 64.
inline AttentionSpec
spec_of(int64_t query_heads, int64_t kv_heads, Visibility sees) {
  AttentionSpec spec = small_spec(query_heads, kv_heads, 64);
  spec.visibility = sees;
  return spec;
}

} // namespace holdfast::cpu
