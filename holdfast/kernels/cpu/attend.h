// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Append and read in one pass: encodes a step's keys and values into the open
// blocks of its rows, then attends over each row's chain.
//
// Reference form, per token t of a row at position p, query head h, kv head g:
//   s_j = cap(scale * q_t,h . k_j,g) for the visible j
//   out = sum_j exp(s_j - m) v_j,g / (sum_j exp(s_j - m) + exp(sink_h - m))
//
// Same bits: a partial (out, max, sum) covers the keys that a query sees of one
// split of kSplitBlocks blocks, at absolute multiples of it: weights exp(s -
// max) with the split's own max (rounded to bf16 where values are bf16), values
// summed from zero in order of the tokens. Partials are folded in order of the
// splits. Splits of which a query sees nothing are skipped for that query. No
// part of this depends on other rows, on the chunk a token came in, or on the
// number of threads.
//
// Threads: called on one thread; works on the executor's team.

#pragma once

#include <cstdint>
#include <span>

#include "holdfast/block/layout.h"
#include "holdfast/codec/codec.h"
#include "holdfast/env/cpu.h"
#include "holdfast/env/executor.h"
#include "holdfast/plan/layer_spec.h"
#include "holdfast/plan/step_plan.h"

namespace holdfast::cpu {

struct AttendPlan;

/// One layer of one step. Arrays are f32 and row-contiguous.
struct AttendJob {
  const AttentionSpec* spec = nullptr;
  const Codec* keys = nullptr;
  const Codec* values = nullptr;
  const ImageLayout* layout = nullptr; // of the layer's group
  int64_t layer = 0; // within its group
  std::span<const RowSpan> rows;
  std::span<const RowBlocks> blocks; // [row], of the layer's group
  const float* q = nullptr; // [T, query_heads, key_dim], roped
  const float* k = nullptr; // [T, kv_heads, key_dim], roped; null: of a donor,
                            // whose task has appended them: only read
  const float* v = nullptr; // [T, kv_heads, value_dim]
  float* out = nullptr; // [T, query_heads, value_dim]
  /// plan_attend() of such a job (attend_plan.h); null: made for this call.
  const AttendPlan* plan = nullptr;
};

/// Ok where append_and_attend covers a layer on this path; kUnsupported with
/// the reason otherwise (codecs that differ in a way no kernel reads, head
/// sizes).
Status supports_attend(
    const AttentionSpec& spec,
    const Codec& keys,
    const Codec& values,
    KernelPath path);

/// Throws kUnsupported where no kernel of this path covers the job's codecs and
/// head sizes, before anything is written.
void append_and_attend(
    const AttendJob& job,
    Executor& executor,
    KernelPath path);

} // namespace holdfast::cpu
