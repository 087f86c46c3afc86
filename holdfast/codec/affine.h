// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The affine codecs: codes of 2, 3, 4, 5, 6 or 8 bits, and for each group of
// 32, 64 or 128 elements along the head a scale and a bias, f16 at 8 bits and
// else bf16. As values all equal MLX's quantize of the vector rounded to bf16,
// in the format of the scales. Stateless; any thread.

#pragma once

#include "holdfast/codec/affine_layout.h"
#include "holdfast/codec/codec.h"

namespace holdfast {

class AffineCodec final : public Codec {
 public:
  /// Throws kInvalidArgument on other bits or groups.
  AffineCodec(int bits, int group);

  /// "q4" with the usual group of 64, else "q4g32".
  std::string name() const override;
  std::string id() const override;
  CodecForm form() const override {
    return {
        .kind = CodecKind::kAffine,
        .format = affine_scale_format(bits_),
        .bits = bits_,
        .group = group_};
  }
  Status supports(ChannelRole role, int64_t head_dim) const override;
  /// Codes, scales, biases.
  std::vector<PlaneSpec>
  planes(ChannelRole role, int64_t head_dim) const override;
  void encode(
      ChannelRole role,
      std::span<const float> vector,
      int64_t slot,
      std::span<std::byte* const> planes) const override;
  void encode_run(
      ChannelRole role,
      const VectorRun& vectors,
      int64_t slot,
      std::span<std::byte* const> planes) const override;
  void decode(
      ChannelRole role,
      std::span<const std::byte* const> planes,
      int64_t slot,
      std::span<float> vector) const override;

 private:
  int bits_;
  int group_;
};

} // namespace holdfast
