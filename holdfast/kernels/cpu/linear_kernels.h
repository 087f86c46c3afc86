// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The kernels a linear job is made of, as tables of functions per path: which
// rows, panels and threads there are is linear.cpp's business. Included by
// kernel files of any instruction set: data only.
//
// Activations: kActivationScale times a row (normed or not), as bf16, in A
// tiles; the factor and the 2^-112 of expanded codes keep every product normal.
// Order: [chunk of K][row tile][step][tile rows][32], chunks of chunk_steps
// steps. Sums: [panel][4][row tile][16][16] f32. Stateless; any thread.

#pragma once

#include <cstdint>

#include "holdfast/kernels/cpu/linear_exact_kernels.h"
#include "holdfast/kernels/cpu/weight_layout.h"

namespace holdfast::cpu {

constexpr float kActivationScale = 0x1p96f;
constexpr int kChunkSteps = 8; // 256 k: a slab of two tile columns stays in L1
constexpr int kMaxChunkSteps = 10; // where that divides K without a rest

struct ActivationShape {
  int64_t rows = 0; // M
  int64_t k = 0;
  int64_t steps = 0; // padded K / 32
  int64_t tile_rows = 16; // rows of a tile in memory: min(M, 16)
  int64_t row_tiles = 1;
  int64_t chunk_steps = kChunkSteps;
};

/// Rows [first_tile * 16, ...) of `tiles` row tiles of x into A tiles, or,
/// where `a` is null, into f32 rows.
struct PrepareArgs {
  const float* x = nullptr; // [M, k], or more rows
  const int64_t* rows = nullptr; // [M] where they lie in x; null: in order
  const float* norm = nullptr; // [k] or null
  float eps = 0.0f;
  ActivationShape shape = {};
  int64_t first_tile = 0;
  int64_t tiles = 0;
  float* row = nullptr; // scratch [padded k]
  uint16_t* a = nullptr;
  float* f32 = nullptr; // [M, k] or null
};

/// Products of row tiles [first_tile, first_tile + tiles) with `panels` panels
/// from `panel` on.
struct ProductArgs {
  const uint8_t* weight = nullptr; // first byte of the first panel
  WeightLayout layout = {};
  ActivationShape shape = {};
  const uint16_t* a = nullptr;
  const float* f32 = nullptr; // [M, k]: f32 weights
  int64_t first_tile = 0;
  int64_t tiles = 1;
  int64_t panels = 1;
  uint16_t* slab = nullptr; // scratch, kSlabValues
  float* sums = nullptr; // [panels][4][tiles][16][16]
};
constexpr int64_t kSlabValues = 2 * 2 * kMaxChunkSteps * 512;

/// From sums to rows of y: factor, bias, what is added, gate, residual.
constexpr int64_t kMaxPanels = 16; // of one item
struct FinishArgs {
  const float* sums = nullptr; // [panels][4][tiles][16][16]
  const float* factors = nullptr; // [panels]
  const float* gated_sums = nullptr; // of the second weight, or null
  const float* gated_factors = nullptr;
  const float* bias = nullptr; // of the first column, or null
  const float* gated_bias = nullptr; // of the second weight
  const float* added = nullptr; // first row, first column, or null
  const float* gated_added = nullptr; // of the second weight
  int64_t added_stride = 0; // of both, in values
  int gate = 0; // 0 none, 1 gelu_tanh, 2 silu, 3 clamped swiglu
  int64_t tiles = 1;
  int64_t rows = 0;
  int64_t columns = 0; // of these panels that exist
  const float* residual = nullptr; // first row, first column, or null
  float* y = nullptr; // the same place
  int64_t stride = 0; // of y and residual, in values
};

/// y = rms_norm(y) + residual, row by row.
struct PostArgs {
  const float* norm = nullptr;
  float eps = 0.0f;
  int64_t rows = 0;
  int64_t width = 0;
  const float* residual = nullptr;
  float* y = nullptr;
};

/// For one weight format.
struct ProductKernels {
  void (*stream)(const ProductArgs&); // M <= 16, one row tile
  void (*block)(const ProductArgs&); // any M
};

struct LinearKernels {
  void (*prepare)(const PrepareArgs&);
  void (*finish)(const FinishArgs&);
  void (*post)(const PostArgs&);
  ProductKernels f32;
  ProductKernels bf16;
  ProductKernels codes[9][2]; // [bits][offsets]
  ExactKernels exact;
};

const LinearKernels& linear_kernels_plain();
const LinearKernels& linear_kernels_vec256();
const LinearKernels& linear_kernels_avx512();
const LinearKernels& linear_kernels_amx();

} // namespace holdfast::cpu
