// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A codec as a newcomer would bring it, unknown to every kernel: a bf16 number
// and, in a plane of its own, what that leaves, again as bf16. A program that
// registers it proves that its suites ask the registry and nothing else.

#pragma once

#include <cstring>

#include "holdfast/base/bits.h"
#include "holdfast/codec/codec.h"
#include "holdfast/codec/slot_check.h"

namespace holdfast {

class ExtraCodec final : public Codec {
 public:
  std::string name() const override {
    return "extra";
  }
  std::string id() const override {
    return "extra.two-bf16.1";
  }
  Status supports(ChannelRole, int64_t head_dim) const override {
    if (head_dim >= 16 && head_dim <= 512 && head_dim % 16 == 0) {
      return Status();
    }
    return Status(
        ErrorCode::kUnsupported,
        "[extra] expected a multiple of 16 up to 512, got " +
            std::to_string(head_dim) + "; no codec fits");
  }
  std::vector<PlaneSpec>
  planes(ChannelRole role, int64_t head_dim) const override {
    supports(role, head_dim).check();
    const Bytes bytes(kBlockTokens * head_dim * 2);
    return {{"high", bytes}, {"low", bytes}};
  }
  void encode(
      ChannelRole role,
      std::span<const float> vector,
      int64_t slot,
      std::span<std::byte* const> planes) const override {
    const size_t dim = vector.size();
    expect_slot(
        "ExtraCodec.encode", supports(role, dim), {slot, planes.size()}, 2);
    for (size_t d = 0; d < dim; ++d) {
      const uint16_t high = f32_to_bf16(vector[d]);
      const uint16_t low = f32_to_bf16(vector[d] - bf16_to_f32(high));
      std::memcpy(planes[0] + (slot * dim + d) * 2, &high, 2);
      std::memcpy(planes[1] + (slot * dim + d) * 2, &low, 2);
    }
  }
  void decode(
      ChannelRole role,
      std::span<const std::byte* const> planes,
      int64_t slot,
      std::span<float> vector) const override {
    const size_t dim = vector.size();
    expect_slot(
        "ExtraCodec.decode", supports(role, dim), {slot, planes.size()}, 2);
    for (size_t d = 0; d < dim; ++d) {
      uint16_t high;
      uint16_t low;
      std::memcpy(&high, planes[0] + (slot * dim + d) * 2, 2);
      std::memcpy(&low, planes[1] + (slot * dim + d) * 2, 2);
      vector[d] = bf16_to_f32(high) + bf16_to_f32(low);
    }
  }
};

} // namespace holdfast
