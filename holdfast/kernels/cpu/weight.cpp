// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/weight.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/env/for_path.h"
#include "holdfast/env/pages.h"
#include "holdfast/kernels/cpu/expand-inl.h"
#include "holdfast/kernels/cpu/weight_pack.h"

namespace holdfast::cpu {

namespace {

constexpr float kScaleLimit = 0x1p60f;
constexpr int kLeastExponent = -100;

PackCodeTile code_packer() {
  return for_path<
      pack_code_tile_avx512,
      pack_code_tile_avx512,
      pack_code_tile_vec256,
      pack_code_tile_plain>(best_kernel_path());
}

/// A panel's rows as read: what one worker holds while it packs.
struct Rows {
  std::vector<uint8_t> codes; // [64, padded k]
  std::vector<float> scales; // [64, padded groups]
  std::vector<float> offsets;
};

/// The largest power of two that scales a panel's largest weight below 2^15.
int panel_exponent(const Rows& rows, const WeightFormat& format) {
  const auto most_code = static_cast<float>(
      format.offsets ? (1 << format.bits) - 1 : 1 << (format.bits - 1));
  float most = 0.0f;
  for (size_t i = 0; i < rows.scales.size(); ++i) {
    float bound = std::fabs(rows.scales[i]) * most_code;
    if (format.offsets) {
      bound += std::fabs(rows.offsets[i]);
    }
    if (!(bound < kScaleLimit)) {
      throw Error(
          ErrorCode::kInvalidArgument,
          "[Weight] expected scales and offsets below 2^60, got a weight of " +
              std::to_string(bound));
    }
    most = std::max(most, bound);
  }
  return most > 0.0f ? std::max(std::ilogb(most) - 14, kLeastExponent) : 0;
}

/// scales: [64, groups] of the panel, row-major.
void pack_scales(
    const std::vector<float>& scales,
    float unit,
    int64_t groups,
    int64_t group,
    std::byte* out) {
  for (int64_t column = 0; column < kPanelColumns; ++column) {
    const float scale =
        scales[static_cast<size_t>(column * groups + group)] * unit;
    const uint16_t half = f32_to_f16(scale);
    std::memcpy(out + 2 * column, &half, 2);
  }
}

void pack_panel(
    const WeightFormat& format,
    const WeightLayout& layout,
    const Rows& rows,
    std::byte* panel) {
  const int32_t exponent = panel_exponent(rows, format);
  std::memcpy(panel, &exponent, sizeof exponent);
  const float unit = std::ldexp(1.0f, -exponent);
  const int64_t k = layout.steps() * kStepK;
  const int64_t groups = k / format.group;
  const PackCodeTile pack = code_packer();
  for (int64_t u = 0; u < layout.units; ++u) {
    std::byte* out = panel + layout.header_bytes + u * layout.unit_bytes;
    for (int64_t s = 0; s < layout.unit_steps; ++s) {
      for (int t = 0; t < kPanelTiles; ++t) {
        const int64_t first = (u * layout.unit_steps + s) * kStepK;
        pack(
            rows.codes.data() + 16 * t * k + first,
            k,
            format.bits,
            reinterpret_cast<uint8_t*>(out));
        out += layout.tile_bytes;
      }
    }
    for (int64_t g = 0; g < layout.scale_rows; ++g) {
      const int64_t group = u * layout.scale_rows + g;
      pack_scales(rows.scales, unit, groups, group, out + 128 * g);
      if (format.offsets) {
        pack_scales(
            rows.offsets,
            unit,
            groups,
            group,
            out + 128 * (layout.scale_rows + g));
      }
    }
  }
}

} // namespace

Weight::Weight(const WeightFormat& format, int64_t n, int64_t k)
    : format_(format),
      n_(n),
      k_(k),
      layout_(weight_layout(format, n, k)),
      data_(allocate_piece(layout_.bytes())) {}

Weight Weight::pack_codes(
    const WeightFormat& format,
    int64_t n,
    int64_t k,
    const ReadCodes& read,
    Executor& executor) {
  expect(
      format.kind == WeightFormat::Kind::kCodes,
      "[Weight::pack_codes] expected a format of codes, got one of values");
  Weight weight(format, n, k);
  const WeightLayout& layout = weight.layout_;
  const int64_t padded = layout.steps() * kStepK;
  const int64_t groups = padded / format.group;
  std::vector<Rows> workers(static_cast<size_t>(executor.threads()));
  executor.for_each(layout.panels, [&](int64_t panel, int worker) {
    Rows& rows = workers[static_cast<size_t>(worker)];
    const int64_t first = panel * kPanelColumns;
    const int64_t count = std::min<int64_t>(kPanelColumns, n - first);
    const bool clean = count < kPanelColumns || padded > k;
    if (rows.codes.empty() || clean) {
      rows.codes.assign(static_cast<size_t>(kPanelColumns * padded), 0);
      rows.scales.assign(static_cast<size_t>(kPanelColumns * groups), 0.0f);
      rows.offsets = rows.scales;
    }
    for (int64_t r = 0; r < count; ++r) {
      read(
          first + r,
          {.codes = rows.codes.data() + r * padded,
           .scales = rows.scales.data() + r * groups,
           .offsets = rows.offsets.data() + r * groups});
    }
    pack_panel(
        format, layout, rows, weight.data_.get() + panel * layout.panel_bytes);
  });
  return weight;
}

Weight Weight::exact() const {
  Weight result = *this;
  result.format_.exact = format_.kind == WeightFormat::Kind::kCodes &&
      format_.bits == 8 && format_.group >= kStepK;
  return result;
}

void Weight::read_row(int64_t row, float* values) const {
  expect(
      row >= 0 && row < n_, "[Weight::read_row] expected a row of the matrix");
  const int64_t column = row % kPanelColumns;
  const std::byte* panel =
      data_.get() + row / kPanelColumns * layout_.panel_bytes;
  if (format_.kind == WeightFormat::Kind::kF32) {
    for (int64_t i = 0; i < k_; ++i) {
      std::memcpy(values + i, panel + (i * kPanelColumns + column) * 4, 4);
    }
    return;
  }
  const int lane = static_cast<int>(column % 16 * 2);
  const auto* bytes = reinterpret_cast<const uint8_t*>(panel);
  if (format_.kind == WeightFormat::Kind::kBf16) {
    for (int64_t i = 0; i < k_; ++i) {
      const uint8_t* tile = bytes + i / kStepK * layout_.unit_bytes +
          column / 16 * layout_.tile_bytes;
      const auto word = static_cast<int>(i % kStepK / 2);
      values[i] = bf16_to_f32(static_cast<uint16_t>(
          tile_word(tile, word, lane + static_cast<int>(i % 2))));
    }
    return;
  }
  int32_t exponent;
  std::memcpy(&exponent, bytes, sizeof exponent);
  const float unit = std::ldexp(1.0f, exponent);
  const float zero =
      format_.offsets ? 0.0f : static_cast<float>(1 << (format_.bits - 1));
  const int64_t unit_k = layout_.unit_steps * kStepK;
  for (int64_t i = 0; i < k_; ++i) {
    const uint8_t* at =
        bytes + layout_.header_bytes + i / unit_k * layout_.unit_bytes;
    const int64_t step = i % unit_k / kStepK;
    const uint8_t* tile =
        at + (step * kPanelTiles + column / 16) * layout_.tile_bytes;
    const uint8_t* scales =
        at + layout_.unit_steps * kPanelTiles * layout_.tile_bytes;
    const int64_t group = i % unit_k / format_.group;
    const auto half = [&](int64_t scale_row) {
      uint16_t bits;
      std::memcpy(&bits, scales + 128 * scale_row + 2 * column, 2);
      return f16_to_f32(bits) * unit;
    };
    const auto code = static_cast<float>(tile_code(
        tile,
        format_.bits,
        static_cast<int>(i % kStepK / 2),
        lane + static_cast<int>(i % 2)));
    // The product is exact: 11 by 8 bits.
    const float product = half(group) * (code - zero);
    values[i] =
        format_.offsets ? product + half(layout_.scale_rows + group) : product;
  }
}

} // namespace holdfast::cpu
