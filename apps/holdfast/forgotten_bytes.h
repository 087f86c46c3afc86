// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a tier is to have no more, as runs of bytes to look for: tokens as they
// are stored, and bodies of records. One thread.

#pragma once

#include <string>
#include <vector>

#include "folder_scan.h"
#include "holdfast/tier/disk_tier.h"
#include "record_texts.h"

namespace holdfast::app {

class ForgottenBytes {
 public:
  /// All that the tier has now, and all texts that go.
  ForgottenBytes(DiskTier& tier, const std::vector<RecordTexts>& going);
  /// Runs of the texts that went, and of what else the tier has no more, save
  /// those that are in a record which it still has: 8 tokens, or 32 bytes of a
  /// body. Fewer than 4 tokens are no run.
  ByteSearch gone_since(DiskTier& tier) const;

 private:
  std::vector<std::string> blocks_; // of the tier's nodes: their tokens
  std::vector<std::string> going_; // blocks, and bytes of bodies
};

} // namespace holdfast::app
