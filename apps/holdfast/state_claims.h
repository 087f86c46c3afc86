// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Who works on what in a folder of kept state. One thread.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "holdfast/tier/disk_tier.h"
#include "holdfast/tier/key_claims.h"

namespace holdfast::app {

/// One value for all of them; kUnsupported where a process has one of them.
Result<std::shared_ptr<void>>
claim_keys(KeyClaims claims, const std::vector<std::string>& keys);

/// Records of a folder that are kept from others while this lives.
class RecordClaims {
 public:
  explicit RecordClaims(const DiskTier& tier);
  /// Keeps processes off that would store the record: a chat's or a
  /// generation's. With a chat go its question and its answers. Nothing for
  /// others. Throws UserError where one is at work on it.
  void claim(const RecordName& name);
  /// The same of all records, before any other.
  void claim_all();

 private:
  const std::string folder_;
  KeyClaims claims_;
  std::map<std::string, std::shared_ptr<void>> held_; // [key]
};

} // namespace holdfast::app
