// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/plan/recurrent_spec.h"

#include <string>

namespace holdfast {

namespace {

constexpr int64_t kMostTaps = 16;
constexpr int64_t kMostHeads = int64_t{1}
    << 16; // no size of an image overflows
constexpr int64_t kMostDim = 512;
constexpr int64_t kLanes = 16;

} // namespace

Status check_recurrent(const RecurrentSpec& spec) {
  const auto numbers = [&] {
    return std::to_string(spec.value_heads) + " value heads of " +
        std::to_string(spec.value_dim) + ", " + std::to_string(spec.key_heads) +
        " key heads of " + std::to_string(spec.key_dim) + ", " +
        std::to_string(spec.taps) + " taps";
  };
  if (spec.key_heads < 1 || spec.value_heads < 1 ||
      spec.value_heads > kMostHeads || spec.value_heads % spec.key_heads != 0 ||
      spec.taps < 1) {
    return {
        ErrorCode::kInvalidArgument,
        "[recurrent] expected value heads, at most 65536, a multiple of key "
        "heads and a tap, got " +
            numbers()};
  }
  const auto fits = [](int64_t dim) {
    return dim >= kLanes && dim <= kMostDim && dim % kLanes == 0;
  };
  if (!fits(spec.key_dim) || !fits(spec.value_dim) || spec.taps > kMostTaps) {
    return {
        ErrorCode::kUnsupported,
        "[recurrent] expected head sizes that are multiples of 16 up to 512 "
        "and at most 16 taps, got " +
            numbers()};
  }
  return {};
}

LayerPlanes recurrent_planes(const RecurrentSpec& spec) {
  const auto floats = [](int64_t count) {
    return Bytes(count * static_cast<int64_t>(sizeof(float)));
  };
  return {
      .heads = spec.key_heads,
      .planes = {
          {"mark", Bytes(8 * static_cast<int64_t>(sizeof(int64_t)))},
          {"inputs",
           floats((spec.taps - 1 + kBlockTokens) * spec.head_width())},
          {"gates", floats(kBlockTokens * spec.sharing() * 2)},
          {"boundary", floats(spec.head_state())},
          {"running", floats(spec.head_state())}}};
}

} // namespace holdfast
