// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Append and read of latent layers: a position stores one latent (its value)
// and one short key with its position; both are the keys of every query head.
//
// Reference form, per token t of a row at position p, query head h with parts a
// and b:
//   s_j = scale * (a . latent_j + b . key_j) for the visible j
//   out = sum_j softmax(s)_j latent_j
//
// Same bits: a partial covers what a query sees of one block; dot products run
// over 16 strided lanes, weights and values in order of the positions; partials
// are folded in order of the blocks. Threads: called on one thread; works on
// the executor's team.

#pragma once

#include <cstdint>
#include <span>

#include "holdfast/env/cpu.h"
#include "holdfast/env/executor.h"
#include "holdfast/plan/group.h"
#include "holdfast/plan/step_plan.h"

namespace holdfast::cpu {

/// One layer of one step. Arrays are f32 and row-contiguous.
struct LatentJob {
  const AttentionSpec* spec = nullptr;
  std::span<const GroupPhase> phases; // of the layer's group
  int64_t layer = 0; // within its group
  std::span<const RowSpan> rows;
  std::span<const RowBlocks> blocks; // [row]
  const float* q = nullptr; // [T, query_heads, value_dim + key_dim]
  const float* k = nullptr; // [T, key_dim]; null: of a donor, only read
  const float* v = nullptr; // [T, value_dim]
  float* out = nullptr; // [T, query_heads, value_dim]
};

/// Ok, or kUnsupported with the reason.
Status supports_latent(const AttentionSpec& spec);

void append_and_attend_latent(
    const LatentJob& job,
    Executor& executor,
    KernelPath path);

} // namespace holdfast::cpu
