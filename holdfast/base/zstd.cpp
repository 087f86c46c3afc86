// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/base/zstd.h"

#include <string>

#include <zstd.h>

#include "holdfast/base/check.h"

namespace holdfast {

std::vector<std::byte>
zstd_packed(std::span<const std::byte> bytes, int level) {
  if (level < kLeastZstdLevel || level > kMostZstdLevel) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[zstd] expected a level from 1 to 19, got " + std::to_string(level));
  }
  std::vector<std::byte> frame(ZSTD_compressBound(bytes.size()));
  const size_t size = ZSTD_compress(
      frame.data(), frame.size(), bytes.data(), bytes.size(), level);
  ensure(!ZSTD_isError(size), "[zstd] expected room for a frame, got none");
  frame.resize(size);
  return frame;
}

Status
zstd_unpack(std::span<const std::byte> frame, std::span<std::byte> into) {
  const size_t size =
      ZSTD_decompress(into.data(), into.size(), frame.data(), frame.size());
  if (ZSTD_isError(size) || size != into.size()) {
    return Status(
        ErrorCode::kCorrupt,
        "[zstd] expected a frame of " + std::to_string(into.size()) +
            " bytes, got " +
            (ZSTD_isError(size) ? std::string(ZSTD_getErrorName(size))
                                : std::to_string(size)));
  }
  return {};
}

} // namespace holdfast
