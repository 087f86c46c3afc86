// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/state/snapshot.h"

#include <string>
#include <utility>

#include "holdfast/base/check.h"

namespace holdfast {

Snapshot::Snapshot(Content content) {
  const int64_t committed = content.row.chain.committed().get();
  if (std::ssize(content.tokens) != committed) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[snapshot] expected " + std::to_string(committed) +
            " tokens, one a committed position, got " +
            std::to_string(content.tokens.size()));
  }
  content_ = std::make_shared<const Content>(std::move(content));
}

Bytes Snapshot::bytes() const {
  Bytes sum = row().bytes();
  for (const Attachment& attachment : attachments()) {
    sum += attachment.bytes();
  }
  return sum;
}

} // namespace holdfast
