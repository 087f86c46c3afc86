// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <array>

#include "holdfast/codec/codec.h"
#include "holdfast/codec/dense.h"

namespace holdfast {

std::span<const Codec* const> all_codecs() {
  static const DenseCodec bf16(DenseFormat::kBf16);
  static const DenseCodec f16(DenseFormat::kF16);
  static const DenseCodec f32(DenseFormat::kF32);
  static const std::array<const Codec*, 3> codecs{&bf16, &f16, &f32};
  return codecs;
}

Result<const Codec*> find_codec(std::string_view name) {
  std::string known;
  for (const Codec* codec : all_codecs()) {
    if (codec->name() == name) {
      return codec;
    }
    known += (known.empty() ? "" : ", ") + codec->name();
  }
  return Status(
      ErrorCode::kInvalidArgument,
      "[find_codec] expected one of " + known + ", got \"" + std::string(name) +
          "\"");
}

} // namespace holdfast
