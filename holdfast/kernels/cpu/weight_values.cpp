// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Packing of matrices of values, f32 and bf16.

#include <algorithm>
#include <vector>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/env/for_path.h"
#include "holdfast/kernels/cpu/weight.h"
#include "holdfast/kernels/cpu/weight_pack.h"

namespace holdfast::cpu {

namespace {

PackBf16Tile bf16_packer() {
  return for_path<
      pack_bf16_tile_avx512,
      pack_bf16_tile_avx512,
      pack_bf16_tile_vec256,
      pack_bf16_tile_plain>(best_kernel_path());
}

/// values: [count, k] of a panel's columns; out: [k, 64]. A line of 16 columns
/// is written whole while it is at hand.
void transpose_panel(
    const std::vector<float>& values,
    int64_t count,
    int64_t k,
    float* out) {
  for (int64_t first = 0; first < count; first += 16) {
    const int64_t end = std::min(first + 16, count);
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t r = first; r < end; ++r) {
        out[i * kPanelColumns + r] = values[static_cast<size_t>(r * k + i)];
      }
    }
  }
}

} // namespace

Weight Weight::pack_halves(
    int64_t n,
    int64_t k,
    const ReadHalves& read,
    Executor& executor) {
  Weight weight({.kind = WeightFormat::Kind::kBf16}, n, k);
  const WeightLayout& layout = weight.layout_;
  const int64_t padded = layout.steps() * kStepK;
  const PackBf16Tile pack = bf16_packer();
  std::vector<std::vector<uint16_t>> workers(
      static_cast<size_t>(executor.threads()));
  executor.for_each(layout.panels, [&](int64_t panel, int worker) {
    auto& rows = workers[static_cast<size_t>(worker)]; // [64, padded k]
    const int64_t first = panel * kPanelColumns;
    const int64_t count = std::min<int64_t>(kPanelColumns, n - first);
    if (rows.empty() || count < kPanelColumns) {
      rows.assign(static_cast<size_t>(kPanelColumns * padded), 0);
    }
    for (int64_t r = 0; r < count; ++r) {
      read(first + r, rows.data() + r * padded);
    }
    auto* tile = reinterpret_cast<uint16_t*>(
        weight.data_.get() + panel * layout.panel_bytes);
    for (int64_t s = 0; s < layout.units; ++s) {
      for (int t = 0; t < kPanelTiles; ++t, tile += 512) {
        pack(rows.data() + 16 * t * padded + s * kStepK, padded, tile);
      }
    }
  });
  return weight;
}

Weight Weight::pack_values(
    WeightFormat::Kind kind,
    int64_t n,
    int64_t k,
    const ReadValues& read,
    Executor& executor) {
  expect(
      kind != WeightFormat::Kind::kCodes,
      "[Weight::pack_values] expected a kind of values, got codes");
  if (kind == WeightFormat::Kind::kBf16) {
    return pack_halves(
        n,
        k,
        [&](int64_t row, uint16_t* halves) {
          std::vector<float> values(static_cast<size_t>(k));
          read(row, values.data());
          std::ranges::transform(values, halves, f32_to_bf16);
        },
        executor);
  }
  Weight weight({.kind = kind}, n, k);
  const WeightLayout& layout = weight.layout_;
  std::vector<std::vector<float>> workers(
      static_cast<size_t>(executor.threads()));
  executor.for_each(layout.panels, [&](int64_t panel, int worker) {
    auto& rows = workers[static_cast<size_t>(worker)]; // [64, k]
    rows.resize(static_cast<size_t>(kPanelColumns * k));
    const int64_t first = panel * kPanelColumns;
    const int64_t count = std::min<int64_t>(kPanelColumns, n - first);
    for (int64_t r = 0; r < count; ++r) {
      read(first + r, rows.data() + r * k);
    }
    transpose_panel(
        rows,
        count,
        k,
        reinterpret_cast<float*>(
            weight.data_.get() + panel * layout.panel_bytes));
  });
  return weight;
}

} // namespace holdfast::cpu
