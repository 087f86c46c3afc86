// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Exact products with weights of 8-bit codes: what linear_exact.cpp asks of an
// instruction set. Included by kernel files of any: data only.
//
// Reference form, per row x and column n, over steps g of 32 k:
//   s = 2^(exponent of max |x_k| - 13), at least 2^-113;  q_k = round(x_k / s)
//   sum = sum_k (code_k - 128) q_k, or sum_k code_k q_k with offsets: an int32
//   y = fma(float(sum), s * scale, y), and with offsets fma(float(sum_k q_k),
//       s * offset, y); steps in order, from zero; then times the factor.
// Sums are whole numbers, so that no order of theirs changes a bit. A step
// with a number that is not finite makes its row NaN. Stateless; any thread.

#pragma once

#include <cstdint>

#include "holdfast/kernels/cpu/weight_layout.h"

namespace holdfast::cpu {

/// Rows that pass a weight together.
constexpr int kExactRows = 8;

constexpr int32_t kExactZero = 128; // the code of weight 0 without offsets

/// Up to kExactRows rows as whole numbers; missing rows are zero.
struct ExactRows {
  int8_t* numbers = nullptr; // [steps][kExactStepBytes], in the path's form
  float* scales = nullptr; // [steps][kExactRows]: s
  int32_t* sums = nullptr; // [steps][kExactRows]: sum of q
  int32_t* zeros = nullptr; // the same times kExactZero
};
constexpr int64_t kExactStepBytes = 2 * kExactRows * kStepK;

struct ExactPrepareArgs {
  const float* x = nullptr; // [rows, 32 steps]
  const float* norm = nullptr; // [32 steps] or null
  float eps = 0.0f;
  int64_t rows = 0; // 1 to kExactRows
  int64_t steps = 0;
  float* row = nullptr; // scratch [32 steps]
  ExactRows out = {};
};

/// One panel.
struct ExactProductArgs {
  const uint8_t* weight = nullptr; // first byte of the panel
  WeightLayout layout = {};
  int64_t rows = 0;
  int64_t steps = 0;
  ExactRows a = {};
  float factor = 1.0f;
  int64_t columns = kPanelColumns; // that exist
  const float* residual = nullptr; // [rows, stride], this column, or null
  float* y = nullptr; // the same place
  int64_t stride = 0;
};

struct ExactKernels {
  void (*prepare)(const ExactPrepareArgs&);
  void (*product[2])(const ExactProductArgs&); // [offsets]
};

} // namespace holdfast::cpu
