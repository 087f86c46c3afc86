// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/attend_channel.h"

#include <array>
#include <cmath>

#include "holdfast/base/bits.h"
#include "holdfast/codec/affine_layout.h"
#include "holdfast/codec/turbo_layout.h"
#include "holdfast/codec/turbo_vector.h"

namespace holdfast::cpu {

namespace {

constexpr int kMostLookedUp = 5; // bits of a code that a table is made for

struct alignas(64) LevelTable {
  uint16_t level[32];
};
using LevelTables = std::array<LevelTable, kMostLookedUp + 1>; // by bits

template <class LevelOf>
LevelTables make_tables(LevelOf level_of) {
  LevelTables tables{};
  for (int bits = 2; bits <= kMostLookedUp; ++bits) {
    for (int i = 0; i < 32; ++i) {
      const int level = level_of(bits, i % (1 << bits));
      tables[bits].level[i] = f32_to_bf16(static_cast<float>(level));
    }
  }
  return tables;
}

/// Codes around zero.
int centred(int bits, int code) {
  return code - (1 << (bits - 1));
}

const uint16_t* levels_of(const CodecForm& form) {
  static const LevelTables affine = make_tables(centred);
  static const LevelTables turbo = make_tables([](int bits, int code) {
    return turbo_level(bits, static_cast<uint8_t>(code));
  });
  if (form.bits > kMostLookedUp) {
    return nullptr;
  }
  return (form.kind == CodecKind::kAffine ? affine : turbo)[form.bits].level;
}

CodedPlanes
view_codes(const CodecForm& form, int64_t codes_bytes, int64_t width) {
  const float half = std::ldexp(1.0f, form.bits - 1);
  CodedPlanes codes{
      .bits = form.bits,
      .group = width,
      .scale_form = static_cast<PlaneForm>(form.format),
      .levels = levels_of(form)};
  codes.scales = round_up(codes_bytes, 64);
  codes.middle = codes.wide() ? half : 0.0f;
  if (form.kind == CodecKind::kAffine) {
    codes.group = form.group;
    codes.biases =
        codes.scales + round_up(affine_scale_bytes(form.group, width), 64);
    codes.shift = codes.wide() ? 0.0f : half;
  } else {
    codes.shift = codes.wide() ? static_cast<float>(kTurboUniformZero) : 0.0f;
  }
  return codes;
}

} // namespace

Status
supports_channel(const Codec& codec, ChannelRole role, int64_t head_dim) {
  if (codec.form().kind == CodecKind::kOther) {
    return Status(
        ErrorCode::kUnsupported,
        "[append_and_attend] expected a dense, affine or turbo codec, got " +
            codec.name());
  }
  return codec.supports(role, head_dim);
}

ChannelView
view_channel(const Codec& codec, ChannelRole role, int64_t head_dim) {
  const CodecForm form = codec.form();
  ChannelView view;
  for (const PlaneSpec& plane : codec.planes(role, head_dim)) {
    view.bytes += round_up(plane.bytes.get(), 64);
  }
  if (form.kind == CodecKind::kDense) {
    view.form = static_cast<PlaneForm>(form.format);
    return view;
  }
  const bool keys = role == ChannelRole::kKeys;
  const int64_t width = keys ? code_key_width(head_dim) : head_dim;
  view.form = PlaneForm::kCodes;
  view.codes = view_codes(form, code_plane_bytes(form.bits, width), width);
  return view;
}

int64_t packed_key_width(const ChannelView& keys, int64_t head_dim) {
  return keys.form == PlaneForm::kCodes
      ? code_key_width(head_dim)
      : dense_key_width(static_cast<DenseFormat>(keys.form), head_dim);
}

int64_t key_groups(const ChannelView& keys, int64_t head_dim) {
  return keys.form == PlaneForm::kCodes
      ? code_key_width(head_dim) / keys.codes.group
      : 0;
}

bool stored_rotated(const Codec& codec) {
  return codec.form().kind == CodecKind::kTurbo;
}

} // namespace holdfast::cpu
