// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Keys that one process at a time may work on: a lock file each in a folder.
// A claim ends with its value, or with its process; what dead owners left is
// removed by whoever claims next. Nothing is synced: no process outlives a loss
// of power. Threads: any.

#pragma once

#include <memory>
#include <set>
#include <string>

#include "holdfast/base/status.h"
#include "holdfast/env/file_system.h"

namespace holdfast {

class KeyClaims {
 public:
  /// The folder is made with the first claim; its parent exists.
  KeyClaims(std::shared_ptr<FileSystem> files, std::string folder);

  /// The value keeps others off the key; it may outlive this. kUnsupported
  /// where another value, here or elsewhere, has it.
  Result<std::shared_ptr<void>> claim(const std::string& key);
  /// The same of all keys there are. kUnsupported where any is claimed.
  Result<std::shared_ptr<void>> claim_all();
  /// SHA-256, in hex, of the keys that somebody works on now.
  Result<std::set<std::string>> claimed() const;

 private:
  struct Folder;
  struct Claim;
  /// got: what the refusal says there was.
  Result<std::shared_ptr<void>>
  claimed_as(const std::string& digest, const std::string& got);

  std::shared_ptr<const Folder> folder_;
};

} // namespace holdfast
