// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The dense codecs: one plane of f32, f16 or bf16 elements, rounded to nearest
// even. f32 gives every vector back bit for bit. Stateless; any thread.

#pragma once

#include "holdfast/codec/codec.h"
#include "holdfast/codec/dense_layout.h"

namespace holdfast {

class DenseCodec final : public Codec {
 public:
  explicit DenseCodec(DenseFormat format) : format_(format) {}

  DenseFormat format() const {
    return format_;
  }
  std::string name() const override;
  std::string id() const override;
  CodecForm form() const override {
    return {.kind = CodecKind::kDense, .format = format_};
  }
  Status supports(ChannelRole role, int64_t head_dim) const override;
  std::vector<PlaneSpec>
  planes(ChannelRole role, int64_t head_dim) const override;
  void encode(
      ChannelRole role,
      std::span<const float> vector,
      int64_t slot,
      std::span<std::byte* const> planes) const override;
  void decode(
      ChannelRole role,
      std::span<const std::byte* const> planes,
      int64_t slot,
      std::span<float> vector) const override;
  void decode_run(
      ChannelRole role,
      std::span<const std::byte* const> planes,
      int64_t slot,
      int64_t head_dim,
      std::span<float> vectors) const override;

 private:
  DenseFormat format_;
};

} // namespace holdfast
