// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a tier had and has no more, as runs of bytes to look for: tokens as they
// are stored, and bodies of records. One thread.

#pragma once

#include <string>
#include <vector>

#include "folder_scan.h"
#include "holdfast/tier/disk_tier.h"

namespace holdfast::app {

class ForgottenBytes {
 public:
  /// All that the tier has now.
  explicit ForgottenBytes(DiskTier& tier);
  /// Runs of what it has no more, save those that are in what it still has: 8
  /// tokens, or 32 bytes of a body. Fewer than 4 tokens are no run.
  ByteSearch gone_since(DiskTier& tier) const;

 private:
  std::vector<std::string> texts_; // of a node's tokens, or a body
};

} // namespace holdfast::app
