// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/linear_work.h"

#include <cmath>
#include <cstring>

#include "holdfast/base/bits.h"
#include "holdfast/kernels/cpu/linear_dispatch.h"

namespace holdfast::cpu {

namespace {

constexpr int64_t kStreamRows = 16; // up to here one row tile, one pass
constexpr int64_t kMostBlockTiles = 32; // 512 rows share an expanded slab
constexpr int64_t kLeastBlockTiles = 16;
// A block of activations that fits in half of L2 stays there while its items,
// of few panels, take turns; for longer K it comes from L3 once an item.
constexpr int64_t kBlockValues = 512 * 1024;
constexpr int64_t kBlockPanels = 2;
constexpr int64_t kLongBlockPanels = 8;
constexpr int64_t kStreamPanels = kMaxPanels;

/// What undoes the powers of two in activations and weights.
float factor(const Weight& weight, int64_t panel) {
  switch (weight.format().kind) {
    case WeightFormat::Kind::kF32:
      return 1.0f;
    case WeightFormat::Kind::kBf16:
      return 1.0f / kActivationScale;
    case WeightFormat::Kind::kCodes:
      break;
  }
  int32_t exponent;
  std::memcpy(
      &exponent,
      weight.data() + panel * weight.layout().panel_bytes,
      sizeof exponent);
  return std::ldexp(0x1p112f / kActivationScale, exponent);
}

} // namespace

LinearWork::LinearWork(
    const LinearJob& job,
    const LinearKernels& kernels,
    const int64_t* rows)
    : job_(job),
      kernels_(kernels),
      rows_(rows),
      gated_(job.gate != Gate::kNone),
      streams_(job.m <= kStreamRows) {
  for (const Weight* weight : job.weights) {
    const bool f32 = weight->format().kind == WeightFormat::Kind::kF32;
    needs_f32_ |= f32;
    needs_tiles_ |= !f32;
    width_ += weight->n();
    panels_ += weight->layout().panels;
  }
  if (gated_) {
    width_ /= 2;
    panels_ /= 2;
  }
  shape_.rows = job.m;
  shape_.k = job.weights[0]->k();
  shape_.steps = ceil_div(shape_.k, int64_t{kStepK}); // of every format
  shape_.chunk_steps =
      shape_.steps % kMaxChunkSteps == 0 ? kMaxChunkSteps : kChunkSteps;
  shape_.tile_rows = std::min<int64_t>(job.m, 16);
  shape_.row_tiles = ceil_div(job.m, int64_t{16});
  block_tiles_ = std::clamp(
      kBlockValues / (16 * shape_.k), kLeastBlockTiles, kMostBlockTiles);
  blocks_ = ceil_div(shape_.row_tiles, block_tiles_);
}

void LinearWork::cut(int64_t panels) {
  const int64_t block = block_tiles_ * 16 * shape_.k <= kBlockValues
      ? kBlockPanels
      : kLongBlockPanels;
  const int64_t most = (streams_ ? kStreamPanels : block) / (gated_ ? 2 : 1);
  group_panels_ = std::clamp<int64_t>(panels, 1, most);
  int64_t column = 0;
  for (size_t i = 0; i < (gated_ ? 1 : job_.weights.size()); ++i) {
    const int64_t all = job_.weights[i]->layout().panels;
    // Groups of one size, or nearly: they end together.
    const int64_t step = ceil_div(all, ceil_div(all, group_panels_));
    for (int64_t first = 0; first < all; first += step) {
      groups_.push_back(
          {.weight = job_.weights[i],
           .first = first,
           .count = std::min(step, all - first),
           .column = column + first * kPanelColumns,
           .scale = scale_of(i)});
    }
    column += job_.weights[i]->n();
  }
}

int64_t LinearWork::tile_values() const {
  return needs_tiles_
      ? shape_.row_tiles * shape_.tile_rows * shape_.steps * kStepK
      : 0;
}

int64_t LinearWork::row_values() const {
  return needs_f32_ ? shape_.rows * shape_.k : 0;
}

WorkSizes LinearWork::sizes() const {
  const int64_t tiles = std::min(shape_.row_tiles, block_tiles_);
  return {
      .sums = group_panels_ * (gated_ ? 2 : 1) * kPanelTiles * tiles * 256,
      .row = shape_.steps * kStepK};
}

float LinearWork::scale_of(size_t weight) const {
  return job_.scales.empty() ? 1.0f : job_.scales[weight];
}

void LinearWork::prepare(
    int64_t first_tile,
    int64_t tiles,
    const Activations& activations,
    const WorkBuffers& buffers) const {
  kernels_.prepare(
      {.x = job_.x,
       .rows = rows_,
       .norm = job_.norm.weight,
       .eps = job_.norm.eps,
       .shape = shape_,
       .first_tile = first_tile,
       .tiles = std::min(tiles, shape_.row_tiles - first_tile),
       .row = buffers.row,
       .a = activations.a,
       .f32 = activations.f32});
}

void LinearWork::multiply(
    int64_t item,
    const Activations& activations,
    const WorkBuffers& buffers) const {
  const auto groups = static_cast<int64_t>(groups_.size());
  const Group& group = groups_[static_cast<size_t>(item % groups)];
  const int64_t first_tile = item / groups * block_tiles_;
  ProductArgs args{
      .shape = shape_,
      .a = activations.a,
      .f32 = activations.f32,
      .first_tile = first_tile,
      .tiles = std::min(block_tiles_, shape_.row_tiles - first_tile),
      .panels = group.count,
      .slab = buffers.slab,
      .sums = buffers.sums};
  product(*group.weight, group.first, args);
  const int64_t panel_sums = kPanelTiles * args.tiles * 256;
  float* gated = nullptr;
  if (gated_) {
    gated = buffers.sums + group.count * panel_sums;
    args.sums = gated;
    product(*job_.weights[1], group.first, args);
  }
  finish(group, first_tile, buffers.sums, gated);
}

void LinearWork::product(const Weight& weight, int64_t panel, ProductArgs args)
    const {
  args.layout = weight.layout();
  args.weight = reinterpret_cast<const uint8_t*>(weight.data()) +
      panel * args.layout.panel_bytes;
  const ProductKernels& kernels = products_of(kernels_, weight.format());
  (streams_ ? kernels.stream : kernels.block)(args);
}

void LinearWork::finish(
    const Group& group,
    int64_t first_tile,
    const float* sums,
    const float* gated) const {
  float factors[kMaxPanels], gated_factors[kMaxPanels];
  for (int64_t p = 0; p < group.count; ++p) {
    factors[p] = group.scale * factor(*group.weight, group.first + p);
    if (gated_) {
      gated_factors[p] =
          scale_of(1) * factor(*job_.weights[1], group.first + p);
    }
  }
  const int64_t first_row = first_tile * 16;
  const int64_t at = first_row * width_ + group.column;
  const bool post = job_.post_norm.weight != nullptr;
  const int64_t added_stride = gated_ ? 2 * width_ : width_;
  const float* added = job_.added == nullptr
      ? nullptr
      : job_.added + first_row * added_stride + group.column;
  kernels_.finish(
      {.sums = sums,
       .factors = factors,
       .gated_sums = gated,
       .gated_factors = gated_factors,
       .bias = job_.bias == nullptr ? nullptr : job_.bias + group.column,
       .gated_bias = job_.bias == nullptr || !gated_
           ? nullptr
           : job_.bias + width_ + group.column,
       .added = added,
       .gated_added = added == nullptr || !gated_ ? nullptr : added + width_,
       .added_stride = added_stride,
       .gate = static_cast<int>(job_.gate), // 0 to 3
       .tiles = std::min(block_tiles_, shape_.row_tiles - first_tile),
       .rows = std::min(block_tiles_ * 16, shape_.rows - first_row),
       .columns = std::min(
           group.count * kPanelColumns,
           group.weight->n() - group.first * kPanelColumns),
       .residual =
           job_.residual == nullptr || post ? nullptr : job_.residual + at,
       .y = job_.y + at,
       .stride = width_});
}

void LinearWork::post(int64_t first_row, int64_t rows) const {
  if (job_.post_norm.weight == nullptr) {
    return;
  }
  const int64_t at = first_row * width_;
  kernels_.post(
      {.norm = job_.post_norm.weight,
       .eps = job_.post_norm.eps,
       .rows = rows,
       .width = width_,
       .residual = job_.residual == nullptr ? nullptr : job_.residual + at,
       .y = job_.y + at});
}

} // namespace holdfast::cpu
