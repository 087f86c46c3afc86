// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/weight_layout.h"

#include <algorithm>
#include <string>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/kernels/cpu/weight.h"

namespace holdfast::cpu {

namespace {

// 2^40 bytes of weights are more than any machine of ours holds; beyond it
// sizes are a mistake, and their products stay far below 2^63.
constexpr int64_t kMaxSide = int64_t{1} << 31;
constexpr int64_t kMaxValues = int64_t{1} << 40;

void require(bool condition, const std::string& text) {
  if (!condition) {
    throw Error(ErrorCode::kInvalidArgument, "[Weight] expected " + text);
  }
}

void check(const WeightFormat& format, int64_t n, int64_t k) {
  require(
      n >= 1 && k >= 1 && n <= kMaxSide && k <= kMaxSide && n * k <= kMaxValues,
      "n and k from 1 to 2^31 and n k up to 2^40, got n " + std::to_string(n) +
          ", k " + std::to_string(k));
  if (format.kind != WeightFormat::Kind::kCodes) {
    return;
  }
  const int g = format.group;
  require(
      format.bits >= 2 && format.bits <= 8,
      "2 to 8 bits, got " + std::to_string(format.bits));
  require(
      g == 16 || g == 32 || g == 64 || g == 128,
      "a group of 16, 32, 64 or 128, got " + std::to_string(g));
  require(
      k % g == 0,
      "k to be a multiple of the group " + std::to_string(g) + ", got " +
          std::to_string(k));
}

} // namespace

int64_t WeightLayout::steps() const {
  return units * unit_steps;
}

int64_t WeightLayout::bytes() const {
  return panels * panel_bytes;
}

WeightLayout weight_layout(const WeightFormat& format, int64_t n, int64_t k) {
  check(format, n, k);
  WeightLayout layout;
  layout.panels = ceil_div(n, kPanelColumns);
  switch (format.kind) {
    case WeightFormat::Kind::kF32:
      layout.units = k;
      layout.unit_bytes = kPanelColumns * 4;
      break;
    case WeightFormat::Kind::kBf16:
      layout.units = ceil_div(k, kStepK);
      layout.tile_bytes = 1024;
      layout.unit_bytes = kPanelTiles * layout.tile_bytes;
      break;
    case WeightFormat::Kind::kCodes: {
      const int64_t unit_k = std::max(format.group, kStepK);
      layout.units = ceil_div(k, unit_k);
      layout.unit_steps = unit_k / kStepK;
      layout.tile_bytes = 64 * format.bits;
      layout.scale_rows = unit_k / format.group;
      layout.unit_bytes = layout.unit_steps * kPanelTiles * layout.tile_bytes +
          layout.scale_rows * kPanelColumns * 2 * (format.offsets ? 2 : 1);
      layout.header_bytes = kPanelHeader;
      break;
    }
  }
  layout.panel_bytes = layout.header_bytes + layout.units * layout.unit_bytes;
  return layout;
}

} // namespace holdfast::cpu
