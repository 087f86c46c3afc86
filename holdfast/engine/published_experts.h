// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// gpt-oss as it is published: an expert stack's codes in "..._blocks", its
// exponents in "..._scales" (mxfp4.h), and gate and up in one tensor, row by
// row in turn. Families ask for gate, up and down apart, as MLX converts them.
// Stateless; any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast {

/// Rows first, first + step, ... of the published tensors.
struct PublishedRows {
  std::string blocks; // "layers.0.mlp.experts.gate_up_proj_blocks"
  std::string scales;
  std::string bias;
  int64_t first = 0;
  int64_t step = 1;
};

/// Where "layers.0.mlp.experts.gate_proj.weight" or ".bias" lies in such a
/// checkpoint; nothing for other names.
std::optional<PublishedRows> published_rows(std::string_view name);

} // namespace holdfast
