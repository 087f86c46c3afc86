// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Sizes of the packed weight format (docs/weights.md): what packers, kernels
// and read_row all compute offsets from. Data only, so that kernel files of any
// instruction set may include it. Values; any thread.

#pragma once

#include <cstdint>

namespace holdfast::cpu {

constexpr int kPanelColumns = 64; // rows of W side by side in a panel
constexpr int kPanelTiles = 4; // tiles of 16 columns
constexpr int kStepK = 32; // k of a tile
constexpr int kPanelHeader = 64; // bytes before a panel of codes

/// W is [panels][header][units]; a unit is one group along K, or two groups of
/// 16. kBf16: a unit is one step, without header. kF32: one k.
struct WeightLayout {
  int64_t panels = 0; // of 64 columns
  int64_t units = 0; // along K
  int64_t unit_steps = 1; // steps of 32 k in a unit (codes, bf16)
  int64_t unit_bytes = 0;
  int64_t tile_bytes = 0; // 64 bits (codes), 1024 (bf16)
  int64_t scale_rows =
      0; // rows of 64 scales in a unit: 1, or 2 for groups of 16
  int64_t header_bytes = 0;
  int64_t panel_bytes = 0;

  /// Steps of 32 k, padding included.
  int64_t steps() const;
  int64_t bytes() const;
};

struct WeightFormat;

/// Throws kInvalidArgument where Weight's packers say so.
WeightLayout weight_layout(const WeightFormat& format, int64_t n, int64_t k);

} // namespace holdfast::cpu
