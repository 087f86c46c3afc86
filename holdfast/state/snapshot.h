// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A row at one moment, as an immutable value: tokens, signature, blocks and
// attachments. It shares sealed blocks with whoever else has them and owns a
// copy of the tail, so nothing that happens to its row, its state or their
// budget afterwards can change it. Settled when it is made: no graph, no
// parent, plain memory. Copies share. Any thread may read and drop it.
//
// Invariant: as many tokens as committed positions.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "holdfast/plan/chains.h"
#include "holdfast/state/attachment.h"
#include "holdfast/state/signature.h"

namespace holdfast {

/// What a snapshot takes beside its images.
Bytes bytes_beside_images(
    std::span<const int32_t> tokens,
    std::span<const Attachment> attachments);

/// Throws kInvalidArgument unless there is a token a committed position.
void require_tokens(std::span<const int32_t> tokens, Position committed);

class Snapshot {
 public:
  struct Content {
    std::vector<int32_t> tokens; // [committed]
    std::shared_ptr<const Signature> signature;
    CapturedRow row;
    std::vector<Attachment> attachments;
    BudgetCharge charge; // for the tokens and attachments
  };
  /// Throws as require_tokens().
  explicit Snapshot(Content content);

  std::span<const int32_t> tokens() const {
    return content_->tokens;
  }
  const Signature& signature() const {
    return *content_->signature;
  }
  const CapturedRow& row() const {
    return content_->row;
  }
  std::span<const Attachment> attachments() const {
    return content_->attachments;
  }
  /// From this length on it can serve every prefix, save one that ends inside a
  /// bidirectional span.
  Position reusable_floor() const {
    return row().chain.reusable_floor();
  }
  /// The largest prefix of at most `most` positions that it can serve, as
  /// State::reusable_length.
  Position reusable_length(Position most) const {
    return row().chain.reusable_length(most);
  }
  /// The bidirectional spans of its positions. A lookup compares them as it
  /// compares tokens: the same tokens under other spans are another text.
  BidirectionalSpans spans() const {
    return row().chain.spans();
  }
  /// Its whole images, shared or not, its tokens and attachments: all of it
  /// counts in the budget of the state that made it.
  Bytes bytes() const;

 private:
  std::shared_ptr<const Content> content_;
};

} // namespace holdfast
