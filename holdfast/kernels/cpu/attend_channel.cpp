// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/attend_channel.h"

#include <array>

#include "holdfast/base/bits.h"
#include "holdfast/codec/affine_layout.h"
#include "holdfast/codec/turbo_layout.h"
#include "holdfast/codec/turbo_vector.h"

namespace holdfast::cpu {

namespace {

constexpr int kMostLookedUp = 6; // bits of a code that a table is made for

struct alignas(64) LevelTable {
  int8_t level[64];
};
using LevelTables = std::array<LevelTable, kMostLookedUp + 1>; // by bits

template <class LevelOf>
LevelTables make_tables(int most_bits, LevelOf level_of) {
  LevelTables tables{};
  for (int bits = 2; bits <= most_bits; ++bits) {
    for (int i = 0; i < 64; ++i) {
      tables[bits].level[i] =
          static_cast<int8_t>(level_of(bits, i % (1 << bits)));
    }
  }
  return tables;
}

const int8_t* levels_of(const CodecForm& form) {
  static const LevelTables affine = make_tables(
      6, [](int bits, int code) { return code - (1 << (bits - 1)); });
  static const LevelTables turbo = make_tables(5, [](int bits, int code) {
    return turbo_level(bits, static_cast<uint8_t>(code));
  });
  if (form.bits > kMostLookedUp) {
    return nullptr;
  }
  return (form.kind == CodecKind::kAffine ? affine : turbo)[form.bits].level;
}

struct alignas(64) Order {
  uint8_t element[64];
  uint8_t packed[64];
};

/// The rows of a code tile whose codes make the low and the high bytes of row i
/// of a half tile: those that lie a byte apart where there are such.
struct RowPair {
  int low;
  int high;
};
RowPair row_pair(int bits, int i) {
  if (bits == 2) {
    return {i / 4 * 8 + i % 4, i / 4 * 8 + i % 4 + 4};
  }
  if (bits == 4) {
    return {i / 2 * 4 + i % 2, i / 2 * 4 + i % 2 + 2};
  }
  return {2 * i, 2 * i + 1};
}

const Order& order_of(int bits) {
  static const auto orders = [] {
    std::array<Order, 9> made{};
    for (int b = 2; b <= 8; ++b) {
      for (int i = 0; i < 64; ++i) {
        const RowPair rows = row_pair(b, i % 32 / 4);
        const int row = i % 2 == 0 ? rows.low : rows.high;
        const int element = i / 32 * 32 + 2 * row + i % 4 / 2;
        made[b].element[i] = static_cast<uint8_t>(element);
        made[b].packed[i] = static_cast<uint8_t>(
            element % 16 / 4 * 16 + element / 16 * 4 + element % 4);
      }
    }
    return made;
  }();
  return orders[bits];
}

CodedPlanes
view_codes(const CodecForm& form, int64_t codes_bytes, int64_t width) {
  CodedPlanes codes{
      .bits = form.bits, .group = width, .levels = levels_of(form)};
  codes.scales = round_up(codes_bytes, 64);
  codes.order = order_of(form.bits).element;
  codes.packed_order = order_of(form.bits).packed;
  if (form.kind == CodecKind::kAffine) {
    codes.group = form.group;
    codes.biases =
        codes.scales + round_up(affine_scale_bytes(form.group, width), 64);
    codes.shift = static_cast<float>(1 << (form.bits - 1));
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
