// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/attend.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/kernels/cpu/attend_channel.h"
#include "holdfast/kernels/cpu/attend_plan.h"
#include "holdfast/kernels/cpu/attend_unit.h"

namespace holdfast::cpu {

namespace {

// Below these a call is over before a second thread has woken.
constexpr int64_t kSmallCost = 3; // in AttendPlan's units
constexpr int64_t kSmallAppend = 32; // vectors

constexpr int64_t kMostPlanes = 3; // of one channel

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
  const VisibleBlocks seen = visible_blocks(visibility, row.start, end - 1);
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
  const int64_t planes =
      key_planes + planes_of(*job.values, ChannelRole::kValues, spec.value_dim);
  job.layout->offset(job.layer, spec.kv_heads - 1, planes - 1); // throws
  static std::atomic<uint64_t> calls{0};
  return {
      .job = &job,
      .kernels = &attend_kernels(path),
      .keys = view_channel(*job.keys, ChannelRole::kKeys, spec.key_dim),
      .values = view_channel(*job.values, ChannelRole::kValues, spec.value_dim),
      .key_planes = key_planes,
      .heads = spec.query_heads / spec.kv_heads,
      .call = ++calls};
}

/// The part of a row's new tokens that lies in one block, for one head.
struct AppendPiece {
  int64_t row = 0;
  int64_t token = 0; // first, within the row's
  int64_t count = 0;
  int64_t head = 0;
};

/// One channel's part of a piece.
struct AppendChannel {
  const Codec* codec;
  ChannelRole role;
  PlaneForm form;
  int64_t plane; // the first of the channel's, within the head's
};

void append_channel(
    const AttendContext& context,
    const AppendChannel& channel,
    const AppendPiece& piece,
    AppendJob append) {
  const AttendJob& job = *context.job;
  const int64_t position = job.rows[piece.row].start + piece.token;
  std::byte* image = job.blocks[piece.row].images[position / kBlockTokens];
  const auto plane = [&](int64_t i) {
    return image +
        job.layout->offset(job.layer, piece.head, channel.plane + i).get();
  };
  append.count = piece.count;
  append.slot = position % kBlockTokens;
  append.plane = plane(0);
  if (channel.form != PlaneForm::kCodes) {
    const AttendKernels& kernels = *context.kernels;
    const auto& append_dense = channel.role == ChannelRole::kKeys
        ? kernels.append_keys
        : kernels.append_values;
    append_dense[static_cast<int>(channel.form)](append);
    return;
  }
  std::byte* planes[kMostPlanes];
  const size_t count = channel.codec->planes(channel.role, append.dim).size();
  for (size_t i = 0; i < count; ++i) {
    planes[i] = plane(static_cast<int64_t>(i));
  }
  for (int64_t i = 0; i < piece.count; ++i) {
    channel.codec->encode(
        channel.role,
        {append.source + i * append.stride, static_cast<size_t>(append.dim)},
        append.slot + i,
        {planes, count});
  }
}

void append_piece(const AttendContext& context, const AppendPiece& piece) {
  const AttendJob& job = *context.job;
  const AttentionSpec& spec = *job.spec;
  const int64_t first =
      (job.rows[piece.row].first_token + piece.token) * spec.kv_heads +
      piece.head;
  append_channel(
      context,
      {job.keys, ChannelRole::kKeys, context.keys.form, 0},
      piece,
      {.source = job.k + first * spec.key_dim,
       .stride = spec.kv_heads * spec.key_dim,
       .dim = spec.key_dim});
  append_channel(
      context,
      {job.values,
       ChannelRole::kValues,
       context.values.form,
       context.key_planes},
      piece,
      {.source = job.v + first * spec.value_dim,
       .stride = spec.kv_heads * spec.value_dim,
       .dim = spec.value_dim});
}

void append(const AttendContext& context, Executor& executor) {
  const AttendJob& job = *context.job;
  std::vector<AppendPiece> pieces;
  int64_t vectors = 0;
  for (size_t r = 0; r < job.rows.size(); ++r) {
    const RowSpan& row = job.rows[r];
    for (int64_t token = 0; token < row.count;) {
      const int64_t slot = (row.start + token) % kBlockTokens;
      const int64_t count = std::min(kBlockTokens - slot, row.count - token);
      for (int64_t head = 0; head < job.spec->kv_heads; ++head) {
        pieces.push_back({static_cast<int64_t>(r), token, count, head});
        vectors += count;
      }
      token += count;
    }
  }
  if (vectors <= kSmallAppend) {
    for (const AppendPiece& piece : pieces) {
      append_piece(context, piece);
    }
    return;
  }
  executor.for_each(static_cast<int64_t>(pieces.size()), [&](int64_t i, int) {
    append_piece(context, pieces[i]);
  });
}

/// Buffers that outlive a call: a team's threads meet many.
AttendWorker& worker_of_this_thread() {
  thread_local AttendWorker worker;
  return worker;
}

/// The partials of units that are shared out in parts. Whoever finishes
/// a unit's last split folds them, in order.
class SplitUnits {
 public:
  SplitUnits(const AttendContext& context, const AttendPlan& plan)
      : context_(context),
        plan_(plan),
        offsets_(plan.units.size(), -1),
        left_(plan.units.size()) {
    int64_t floats = 0;
    for (const AttendItem& item : plan.items) {
      if (item.first >= 0 && offsets_[item.unit] < 0) {
        const AttendUnit& unit = plan.units[item.unit];
        offsets_[item.unit] = floats;
        left_[item.unit].store(unit.splits(), std::memory_order_relaxed);
        floats += unit.splits() * size_of(unit);
      }
    }
    thread_local AlignedFloats buffer;
    buffer_ = floats > 0 ? buffer.at_least(floats) : nullptr;
  }

  void run(const AttendItem& item, AttendWorker& worker) {
    const AttendUnit& unit = plan_.units[item.unit];
    const int64_t end = item.first + item.splits;
    for (int64_t i = item.first; i < end; ++i) {
      worker.run_split(
          context_, unit, i, {item.first, end - 1}, partial(item.unit, i));
    }
    if (left_[item.unit].fetch_sub(item.splits, std::memory_order_acq_rel) >
        item.splits) {
      return;
    }
    const Partial total = partial(item.unit, 0);
    for (int64_t i = 1; i < unit.splits(); ++i) {
      context_.kernels->fold(
          total, partial(item.unit, i), unit.rows, value_dim());
    }
    AttendWorker::finish(context_, unit, total);
  }

 private:
  int64_t value_dim() const {
    return context_.job->spec->value_dim;
  }
  int64_t size_of(const AttendUnit& unit) const {
    return partial_floats(unit.rows, value_dim());
  }
  Partial partial(int64_t index, int64_t split) const {
    const AttendUnit& unit = plan_.units[index];
    return partial_in(
        buffer_ + offsets_[index] + split * size_of(unit), unit.rows);
  }

  const AttendContext& context_;
  const AttendPlan& plan_;
  std::vector<int64_t> offsets_; // [unit], in floats; -1: not split
  std::vector<std::atomic<int64_t>> left_; // [unit] splits to come
  float* buffer_ = nullptr;
};

} // namespace

const AttendKernels& attend_kernels(KernelPath path) {
#if defined(__x86_64__)
  if (path == KernelPath::kAmx) {
    return attend_kernels_amx();
  }
  if (path == KernelPath::kAvx512) {
    return attend_kernels_avx512();
  }
#endif
  static_cast<void>(path);
  return attend_kernels_plain();
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
  append(context, executor);
  const AttendPlan plan = plan_attend(*job.spec, job.rows, executor.threads());
  SplitUnits split(context, plan);
  const auto run = [&](int64_t i, int) {
    const AttendItem& item = plan.items[i];
    AttendWorker& worker = worker_of_this_thread();
    item.first < 0 ? worker.run_whole(context, plan.units[item.unit])
                   : split.run(item, worker);
  };
  const auto items = static_cast<int64_t>(plan.items.size());
  if (plan.cost > kSmallCost) {
    executor.for_each(items, run);
    return;
  }
  for (int64_t i = 0; i < items; ++i) {
    run(i, 0);
  }
}

} // namespace holdfast::cpu
