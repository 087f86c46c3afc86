// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/attend.h"

#include <algorithm>
#include <atomic>
#include <string>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/env/for_path.h"
#include "holdfast/kernels/cpu/attend_append.h"
#include "holdfast/kernels/cpu/attend_channel.h"
#include "holdfast/kernels/cpu/attend_items.h"
#include "holdfast/rows/chain.h"

namespace holdfast::cpu {

namespace {

// Below this a round is over before a second thread has woken.
constexpr int64_t kSmallCost = 3; // in AttendItem's units

void refuse(const std::string& expected, const std::string& got) {
  throw Error(
      ErrorCode::kInvalidArgument,
      "[append_and_attend] expected " + expected + ", got " + got);
}

void check_spec(const AttentionSpec& spec) {
  if (spec.kv_heads < 1 || spec.query_heads < spec.kv_heads ||
      spec.query_heads % spec.kv_heads != 0) {
    refuse(
        "query heads that are a multiple of the key-value heads",
        std::to_string(spec.query_heads) + " and " +
            std::to_string(spec.kv_heads));
  }
  if (!spec.sink_logits.empty() &&
      static_cast<int64_t>(spec.sink_logits.size()) != spec.query_heads) {
    refuse(
        std::to_string(spec.query_heads) + " sink logits or none",
        std::to_string(spec.sink_logits.size()));
  }
  if (spec.visibility.window < 0 || spec.visibility.sinks < 0 ||
      !(spec.softcap >= 0.0f)) {
    refuse("a window, sinks and a soft cap of 0 or more", "a negative one");
  }
}

/// Every block that this step writes or reads has an image.
void check_row(
    const Visibility& visibility,
    const RowSpan& row,
    const RowBlocks& blocks) {
  if (row.count < 1 || row.start < 0 || row.first_token < 0) {
    refuse("rows of 1 token or more at positions from 0 on", "another");
  }
  const int64_t end = row.start + row.count;
  const bool view = row.seen_to.has_value(); // spans of all its positions
  if (misplaced_span(
          row.bidirectional,
          Position(view ? 0 : row.start),
          view ? kMaxPositions : Position(end))) {
    refuse("bidirectional spans whole and in order in their row", "another");
  }
  const VisibleBlocks seen =
      visible_blocks(visibility, row, row.start, end - 1);
  const auto images = static_cast<int64_t>(blocks.images.size());
  for (int64_t b = 0; b < seen.end; ++b) {
    if (seen.has(b) && (b >= images || blocks.images[b] == nullptr)) {
      refuse(
          "an image for each block that a query sees",
          "none for block " + std::to_string(b) + " of a row at position " +
              std::to_string(row.start));
    }
  }
}

AttendContext check(const AttendJob& job, KernelPath path) {
  supports_attend(*job.spec, *job.keys, *job.values, path).check();
  check_spec(*job.spec);
  if (job.rows.size() != job.blocks.size()) {
    refuse("the blocks of each row", "another number of rows");
  }
  for (size_t r = 0; r < job.rows.size(); ++r) {
    check_row(job.spec->visibility, job.rows[r], job.blocks[r]);
  }
  const AttentionSpec& spec = *job.spec;
  const auto planes_of = [](const Codec& codec, ChannelRole role, int64_t dim) {
    return static_cast<int64_t>(codec.planes(role, dim).size());
  };
  const int64_t key_planes =
      planes_of(*job.keys, ChannelRole::kKeys, spec.key_dim);
  const int64_t value_planes =
      planes_of(*job.values, ChannelRole::kValues, spec.value_dim);
  job.layout->offset(
      job.layer, spec.kv_heads - 1, key_planes + value_planes - 1); // throws
  static std::atomic<uint64_t> calls{0};
  return {
      .job = &job,
      .kernels = &attend_kernels(path),
      .keys = view_channel(*job.keys, ChannelRole::kKeys, spec.key_dim),
      .values = view_channel(*job.values, ChannelRole::kValues, spec.value_dim),
      .key_planes = key_planes,
      .value_planes = value_planes,
      .heads = spec.query_heads / spec.kv_heads,
      .call = ++calls};
}

} // namespace

const AttendKernels& attend_kernels(KernelPath path) {
  return for_path<
      attend_kernels_amx,
      attend_kernels_avx512,
      attend_kernels_avx2,
      attend_kernels_neon,
      attend_kernels_plain>(path)();
}

Status supports_attend(
    const AttentionSpec& spec,
    const Codec& keys,
    const Codec& values,
    KernelPath) {
  const Status status =
      supports_channel(keys, ChannelRole::kKeys, spec.key_dim);
  return status.ok()
      ? supports_channel(values, ChannelRole::kValues, spec.value_dim)
      : status;
}

void append_and_attend(
    const AttendJob& job,
    Executor& executor,
    KernelPath path) {
  const AttendContext context = check(job, path);
  if (job.k != nullptr) {
    append_rows(context, executor);
  }
  AttendPlan own;
  if (job.plan == nullptr) {
    own = plan_attend(job, attend_cut(job, executor.threads()));
  }
  const AttendPlan& plan = job.plan != nullptr ? *job.plan : own;
  AttendItems items(context, plan, executor.threads());
  for (const AttendRound& round : plan.rounds) {
    items.begin(round);
    if (round.cost > kSmallCost) {
      executor.for_each(round.end - round.begin, [&](int64_t i, int) {
        items.run(round.begin + i);
      });
      continue;
    }
    for (int64_t i = round.begin; i < round.end; ++i) {
      items.run(i);
    }
  }
}

} // namespace holdfast::cpu
