// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Runs one unit of a layer's attention: packs its queries, views its blocks,
// and calls the kernels split by split.
//
// Threads: an AttendWorker belongs to one thread; its buffers are reused from
// call to call and grow to what the largest unit needs.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "holdfast/kernels/cpu/attend.h"
#include "holdfast/kernels/cpu/attend_kernels.h"
#include "holdfast/kernels/cpu/attend_plan.h"

namespace holdfast::cpu {

/// Floats aligned to 64 bytes; what they hold is lost when they grow.
class AlignedFloats {
 public:
  float* at_least(int64_t count);

 private:
  struct Free {
    void operator()(float* floats) const;
  };
  std::unique_ptr<float[], Free> data_;
  int64_t size_ = 0;
};

/// A job with what follows from it.
struct AttendContext {
  const AttendJob* job = nullptr;
  const AttendKernels* kernels = nullptr;
  ChannelView keys;
  ChannelView values;
  int64_t key_planes = 0; // the values' planes come after them
  int64_t value_planes = 0;
  int64_t heads = 0; // query heads of a key-value head
  uint64_t call = 0; // no other call has this number
};

/// Floats of a partial of `rows` rows, padding included.
int64_t partial_floats(int64_t rows, int64_t value_dim);
/// A partial in such a buffer.
Partial partial_in(float* buffer, int64_t rows);

/// A partial's rows from `row` on.
Partial rows_from(const Partial& partial, int64_t row, int64_t value_dim);

/// The i-th split of a unit, the `slot`-th of its item, and what to fetch.
struct SplitRead {
  const AttendUnit* unit = nullptr;
  std::span<const AttendQueries> queries; // the unit's members
  int64_t slot = 0;
  int64_t i = 0;
  FetchList* fetch = nullptr;
};

class AttendWorker {
 public:
  void run_split(
      const AttendContext& context,
      const SplitRead& read,
      const Partial& result);
  /// Writes the outputs of one row's queries from their folded total.
  static void finish(
      const AttendContext& context,
      const AttendUnit& unit,
      const AttendQueries& queries,
      const Partial& total);
  /// A buffer for the caller's partials.
  float* partials(int64_t floats) {
    return partials_.at_least(floats);
  }

 private:
  /// A unit's packed queries, kept while its item lasts.
  struct Slot {
    uint64_t call = 0;
    const AttendUnit* unit = nullptr;
    AlignedFloats queries;
    SplitJob job;
  };

  SplitJob& prepare(const AttendContext& context, const SplitRead& read);
  void
  pack_queries(const AttendContext& context, const SplitRead& read, Slot& slot);
  AttendScratch
  lay_out_scratch(const AttendContext& context, const SplitJob& job);
  int64_t view_blocks(const AttendContext& context, const SplitRead& read);
  static void view_visible(
      const AttendContext& context,
      const SplitRead& read,
      int64_t block,
      uint64_t* visible);

  Slot slots_[kItemUnits];
  AlignedFloats rotated_;
  AlignedFloats partials_;
  AlignedFloats scratch_;
  BlockView views_[kSplitBlocks];
  uint64_t visible_[kSplitBlocks][kUnitRows];
};

} // namespace holdfast::cpu
