// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The parts of a linear job that work row by row: activations into tiles before
// the products, sums into outputs after them. Each row's bits depend on that
// row alone. Arch: V (lanes), store_bf16. Stateless; any thread.

#pragma once

#include <cstring>

#include "holdfast/kernels/cpu/linear_kernels.h"
#include "holdfast/kernels/cpu/math-inl.h"
#include "holdfast/kernels/cpu/norm-inl.h"

namespace holdfast::cpu {
namespace {

/// Where A tile (row tile, step) of a chunk begins.
inline int64_t activation_chunk(const ActivationShape& shape, int64_t chunk) {
  return chunk * shape.chunk_steps * shape.row_tiles * shape.tile_rows * kStepK;
}
inline int64_t chunk_length(const ActivationShape& shape, int64_t chunk) {
  const int64_t left = shape.steps - chunk * shape.chunk_steps;
  return left < shape.chunk_steps ? left : shape.chunk_steps;
}

/// One row (f32, padded with zeros to whole steps) into its place in the tiles.
template <class Arch>
inline void tile_row(
    const float* row,
    const ActivationShape& shape,
    int64_t m,
    uint16_t* a) {
  using V = typename Arch::V;
  const V factor = V::set(kActivationScale);
  const int64_t tile = shape.tile_rows * kStepK;
  for (int64_t chunk = 0; chunk * shape.chunk_steps < shape.steps; ++chunk) {
    const int64_t length = chunk_length(shape, chunk);
    uint16_t* out = a + activation_chunk(shape, chunk) +
        m / 16 * length * tile + m % 16 * kStepK;
    for (int64_t s = 0; s < length; ++s, out += tile, row += kStepK) {
      Arch::store_bf16(V::load(row) * factor, out);
      Arch::store_bf16(V::load(row + 16) * factor, out + 16);
    }
  }
}

template <class Arch>
void prepare(const PrepareArgs& p) {
  using V = typename Arch::V;
  const ActivationShape& shape = p.shape;
  const int64_t padded = shape.steps * kStepK;
  std::memset(
      p.row + shape.k,
      0,
      static_cast<size_t>(padded - shape.k) * sizeof(float));
  const int64_t end = (p.first_tile + p.tiles) * 16;
  for (int64_t m = p.first_tile * 16; m < end; ++m) {
    if (m >= shape.rows) {
      if (m % 16 >= shape.tile_rows || p.a == nullptr) {
        break;
      }
      std::memset(p.row, 0, static_cast<size_t>(shape.k) * sizeof(float));
      tile_row<Arch>(p.row, shape, m, p.a);
      continue;
    }
    const float* x = p.x + (p.rows == nullptr ? m : p.rows[m]) * shape.k;
    const auto bytes = static_cast<size_t>(shape.k) * sizeof(float);
    const float* row = p.row;
    if (p.norm != nullptr) {
      rms_norm_row<V>(x, p.norm, p.eps, shape.k, p.row);
    } else if (shape.k == padded) {
      row = x;
    } else {
      std::memcpy(p.row, x, bytes);
    }
    if (p.f32 != nullptr) {
      std::memcpy(p.f32 + m * shape.k, row, bytes);
    }
    if (p.a != nullptr) {
      tile_row<Arch>(row, shape, m, p.a);
    }
  }
}

/// act(y) * gated.
template <class V, int kGate>
inline V gate(V y, V gated) {
  if constexpr (kGate == 1) {
    return gelu_tanh(y) * gated;
  } else if constexpr (kGate == 2) {
    return silu(y) * gated;
  } else {
    // NaN stays NaN as a second operand; -100 keeps -inf * 0 away.
    const V limit = V::set(7.0f);
    y = V::max(V::set(-100.0f), V::min(limit, y));
    gated = V::max(V::set(-7.0f), V::min(limit, gated));
    return y * sigmoid(y * V::set(1.702f)) * (gated + V::set(1.0f));
  }
}

/// `left` columns or 16.
template <class V>
inline V columns_of(const float* row, int64_t column, int64_t left) {
  return left >= 16 ? V::load(row + column) : V::load_n(row + column, left);
}

template <class V, int kGate>
inline void finish_rows(const FinishArgs& p) {
  for (int64_t r = 0; r < p.rows; ++r) {
    const int64_t row = r / 16 * 256 + r % 16 * 16;
    for (int64_t t = 0; 16 * t < p.columns; ++t) {
      const int64_t from = t * p.tiles * 256 + row;
      const int64_t left = p.columns - 16 * t;
      V y = V::load(p.sums + from) * V::set(p.factors[t / kPanelTiles]);
      if (p.bias != nullptr) {
        y = y + columns_of<V>(p.bias, 16 * t, left);
      }
      if (p.added != nullptr) {
        y = y + columns_of<V>(p.added + r * p.added_stride, 16 * t, left);
      }
      if constexpr (kGate != 0) {
        V gated = V::load(p.gated_sums + from) *
            V::set(p.gated_factors[t / kPanelTiles]);
        if (p.bias != nullptr) {
          gated = gated + columns_of<V>(p.gated_bias, 16 * t, left);
        }
        if (p.added != nullptr) {
          const float* row = p.gated_added + r * p.added_stride;
          gated = gated + columns_of<V>(row, 16 * t, left);
        }
        y = gate<V, kGate>(y, gated);
      }
      const int64_t to = r * p.stride + 16 * t;
      if (left >= 16) {
        if (p.residual != nullptr) {
          y = V::load(p.residual + to) + y;
        }
        y.store(p.y + to);
      } else {
        if (p.residual != nullptr) {
          y = V::load_n(p.residual + to, left) + y;
        }
        y.store_n(p.y + to, left);
      }
    }
  }
}

template <class Arch>
void finish(const FinishArgs& p) {
  using V = typename Arch::V;
  if (p.gate == 0) {
    finish_rows<V, 0>(p);
  } else if (p.gate == 1) {
    finish_rows<V, 1>(p);
  } else if (p.gate == 2) {
    finish_rows<V, 2>(p);
  } else {
    finish_rows<V, 3>(p);
  }
}

template <class Arch>
void post(const PostArgs& p) {
  using V = typename Arch::V;
  for (int64_t r = 0; r < p.rows; ++r) {
    float* y = p.y + r * p.width;
    rms_norm_row<V>(y, p.norm, p.eps, p.width, y);
    if (p.residual == nullptr) {
      continue;
    }
    const float* residual = p.residual + r * p.width;
    int64_t i = 0;
    for (; i + 16 <= p.width; i += 16) {
      (V::load(residual + i) + V::load(y + i)).store(y + i);
    }
    if (i < p.width) {
      const int64_t n = p.width - i;
      (V::load_n(residual + i, n) + V::load_n(y + i, n)).store_n(y + i, n);
    }
  }
}

} // namespace
} // namespace holdfast::cpu
