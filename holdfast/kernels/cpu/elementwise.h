// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The per-token kernels between linear layers and attention. Each token's bits
// depend on that token alone and are the same on every path: sums run over 16
// strided lanes (element i in lane i mod 16, in order) that are then added in a
// fixed tree. Threads: called on one thread; work on the executor's team.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "holdfast/env/cpu.h"
#include "holdfast/env/executor.h"
#include "holdfast/kernels/cpu/linear.h"

namespace holdfast::cpu {

/// Rotary position embedding over a head's first `dims` elements, in pairs
/// (i, i + dims / 2): angle = position * scale * base^(-2 i / dims) /
/// divisors[i]; those elements are multiplied by magnitude.
struct Rope {
  int64_t dims = 0;
  float base = 10000.0f;
  float scale = 1.0f; // linear scaling: 1 / factor
  int64_t turned = 0; // the leading pairs that turn; 0: all
  /// [dims / 2], each above 0, or null: 1. Shared by a model's layers.
  std::shared_ptr<const std::vector<double>> divisors = {};
  float magnitude = 1.0f;
};

/// Splits a fused projection and prepares it for attention: q and k are
/// normalised per head (where a norm is given) and roped, v is normalised
/// (where a norm is given) or copied. Without key-value heads q alone. Where
/// queries are gated, each query head is followed by its gate, left alone here.
struct SplitHeadsJob {
  const float* qkv = nullptr; // [T, (Q + 2 kv_heads) * head_dim], Q =
                              // query_heads, twice that where gated
  int64_t tokens = 0; // T
  int64_t query_heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  RmsNorm query_norm; // weight [head_dim] or null
  RmsNorm key_norm;
  RmsNorm value_norm = {};
  Rope rope;
  const int32_t* positions = nullptr; // [T]
  float* q = nullptr; // [T, query_heads, head_dim]
  float* k = nullptr; // [T, kv_heads, head_dim]
  float* v = nullptr; // [T, kv_heads, head_dim]
  bool gated = false;
};
void split_heads(const SplitHeadsJob& job, Executor& executor, KernelPath path);

/// y = x * sigmoid(gate), the gates taken from a projection as above.
struct GateHeadsJob {
  const float* x = nullptr; // [T, query_heads, head_dim]
  const float* qkv = nullptr; // [T, width]
  int64_t tokens = 0; // T
  int64_t query_heads = 0;
  int64_t head_dim = 0;
  int64_t width = 0;
  float* y = nullptr; // as x
};
void gate_heads(const GateHeadsJob& job, Executor& executor, KernelPath path);

/// y[i] = function(x[i]), `count` values.
enum class Activation { kGeluTanh, kTanh };
void activate(
    Activation function,
    std::span<const float> x,
    float* y,
    Executor& executor,
    KernelPath path);

/// y[t] = rms_norm(x[t]); x, y: [tokens, width], may be the same.
void rms_norm(
    const float* x,
    int64_t tokens,
    int64_t width,
    const RmsNorm& norm,
    float* y,
    KernelPath path);

/// y[t] = scale * row ids[t] of the table. ids outside [0, n) throw
/// kInvalidArgument before y is written. y: [ids.size(), table.k()].
void embed(
    const Weight& table,
    std::span<const int32_t> ids,
    float scale,
    float* y,
    Executor& executor);

} // namespace holdfast::cpu
