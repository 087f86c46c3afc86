// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/named_record.h"

#include <span>

#include "holdfast/tier/little_endian.h"

namespace holdfast {

namespace {

// Of one mark, before its digest: begin, end (u64), kind, digest's size (u8).
constexpr size_t kHead = 18;
constexpr int64_t kMost = int64_t{1} << 40; // of a position

} // namespace

std::string encode_marks(std::span<const TokenMark> marks) {
  std::string bytes;
  for (const TokenMark& mark : marks) {
    std::byte head[kHead];
    store_le<uint64_t>(head, 0, static_cast<uint64_t>(mark.begin.get()));
    store_le<uint64_t>(head, 8, static_cast<uint64_t>(mark.end.get()));
    store_le<uint8_t>(head, 16, mark.bidirectional);
    store_le<uint8_t>(head, 17, static_cast<uint8_t>(mark.digest.size()));
    bytes.append(reinterpret_cast<const char*>(head), kHead);
    bytes += mark.digest;
  }
  return bytes;
}

std::optional<std::vector<TokenMark>> parse_marks(std::string_view bytes) {
  std::vector<TokenMark> marks;
  while (!bytes.empty()) {
    if (bytes.size() < kHead) {
      return std::nullopt;
    }
    const auto head = std::as_bytes(std::span(bytes));
    const auto begin = load_le<uint64_t>(head, 0);
    const auto end = load_le<uint64_t>(head, 8);
    const auto kind = load_le<uint8_t>(head, 16);
    const size_t digest = load_le<uint8_t>(head, 17);
    if (end > kMost || begin >= end || kind > 1 ||
        bytes.size() - kHead < digest) {
      return std::nullopt;
    }
    marks.push_back(
        {.begin = Position(static_cast<int64_t>(begin)),
         .end = Position(static_cast<int64_t>(end)),
         .bidirectional = kind == 1,
         .digest = std::string(bytes.substr(kHead, digest))});
    bytes.remove_prefix(kHead + digest);
  }
  return marks;
}

} // namespace holdfast
