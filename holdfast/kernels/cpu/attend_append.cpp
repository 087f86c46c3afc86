// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/attend_append.h"

#include <algorithm>
#include <vector>

namespace holdfast::cpu {

namespace {

// Fewer vectors are encoded before a second thread has woken.
constexpr int64_t kSmallAppend = 32;
constexpr int64_t kMostPlanes = 3; // of one channel

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
  int64_t planes; // how many
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
  const int64_t count = channel.planes;
  for (int64_t i = 0; i < count; ++i) {
    planes[i] = plane(i);
  }
  channel.codec->encode_run(
      channel.role,
      {append.source, append.stride, append.count, append.dim},
      append.slot,
      {planes, static_cast<size_t>(count)});
}

void append_piece(const AttendContext& context, const AppendPiece& piece) {
  const AttendJob& job = *context.job;
  const AttentionSpec& spec = *job.spec;
  const int64_t first =
      (job.rows[piece.row].first_token + piece.token) * spec.kv_heads +
      piece.head;
  append_channel(
      context,
      {job.keys, ChannelRole::kKeys, context.keys.form, 0, context.key_planes},
      piece,
      {.source = job.k + first * spec.key_dim,
       .stride = spec.kv_heads * spec.key_dim,
       .dim = spec.key_dim});
  append_channel(
      context,
      {job.values,
       ChannelRole::kValues,
       context.values.form,
       context.key_planes,
       context.value_planes},
      piece,
      {.source = job.v + first * spec.value_dim,
       .stride = spec.kv_heads * spec.value_dim,
       .dim = spec.value_dim});
}

} // namespace

void append_rows(const AttendContext& context, Executor& executor) {
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

} // namespace holdfast::cpu
