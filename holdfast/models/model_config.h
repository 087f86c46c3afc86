// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a model's file says of its sizes, whatever form the file has. A value;
// any thread.

#pragma once

#include <cstdint>
#include <string>

namespace holdfast {

/// Far above any size of a model. What is made of sizes before a tensor is seen
/// (a number a layer, an angle a pair of a head) stays small, and products of
/// three fit int64_t.
inline constexpr int64_t kMostModelSize = int64_t{1} << 20;

/// Neutral names; a field a family does not use stays 0. A field that the file
/// lacks stays 0 too, and the family supplies or refuses it.
struct ModelConfig {
  std::string family; // "gemma3"
  std::string name; // for people
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t ffn = 0;
  int64_t query_heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t vocab = 0;
  int64_t context = 0; // positions the model was made for
  int64_t window = 0; // of its sliding layers
  double norm_eps = 0;
  double rope_base = 0;
  double rope_base_local = 0; // of sliding layers
  double rope_scale = 0; // linear: 1 / factor, full layers
};

} // namespace holdfast
