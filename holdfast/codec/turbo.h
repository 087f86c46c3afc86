// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The turbo codecs: a token's vector is rotated (rotation.h), and each element
// stored as a code of 2, 3, 4, 5 or 8 bits, with one f32 norm a vector. Keys
// may be read rotated, by rotated queries. Stateless; any thread.

#pragma once

#include "holdfast/codec/codec.h"
#include "holdfast/codec/turbo_layout.h"

namespace holdfast {

class TurboCodec final : public Codec {
 public:
  /// Throws kInvalidArgument on other bits.
  explicit TurboCodec(int bits);

  /// "t4".
  std::string name() const override;
  std::string id() const override;
  CodecForm form() const override {
    return {.kind = CodecKind::kTurbo, .bits = bits_};
  }
  Status supports(ChannelRole role, int64_t head_dim) const override;
  /// Codes, norms.
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
  /// decode without the way back: the rotated vector.
  void decode_rotated(
      ChannelRole role,
      std::span<const std::byte* const> planes,
      int64_t slot,
      std::span<float> rotated) const;

 private:
  int bits_;
};

} // namespace holdfast
