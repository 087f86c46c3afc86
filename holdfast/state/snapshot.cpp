// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/state/snapshot.h"

#include <string>
#include <utility>

#include "holdfast/base/check.h"

namespace holdfast {

Bytes bytes_beside_images(
    std::span<const int32_t> tokens,
    std::span<const Attachment> attachments) {
  Bytes sum(static_cast<int64_t>(tokens.size_bytes()));
  for (const Attachment& attachment : attachments) {
    sum += attachment.bytes();
  }
  return sum;
}

void require_tokens(std::span<const int32_t> tokens, Position committed) {
  if (std::ssize(tokens) != committed.get()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[snapshot] expected " + std::to_string(committed.get()) +
            " tokens, one a committed position, got " +
            std::to_string(tokens.size()));
  }
}

Snapshot::Snapshot(Content content) {
  require_tokens(content.tokens, content.row.chain.committed());
  content_ = std::make_shared<const Content>(std::move(content));
}

Bytes Snapshot::bytes() const {
  return row().bytes() + bytes_beside_images(tokens(), attachments());
}

} // namespace holdfast
