// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A generation's checkpoint and where checkpoints are kept. Values are
// immutable; any thread.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "holdfast/base/status.h"
#include "holdfast/base/strong.h"
#include "holdfast/tier/record.h"

namespace holdfast {

struct Checkpoint {
  /// Chain, sampler, pending token, text so far: whatever a resumed run needs.
  std::shared_ptr<const RecordContent> content;
  /// Positions that the chain covers, and how many of them were generated: with
  /// it limits and usage go on where they were.
  Position tokens;
  Position generated;
};

/// Which of a key's checkpoints. Later ones have larger numbers.
struct CheckpointVersion {
  uint64_t attempt = 0;
  uint64_t version = 0; // from 1, within the attempt
};

/// Checkpoints on disk, at most one a key. Calls block, from several threads
/// for different keys, one at a time for one key.
class CheckpointStore {
 public:
  virtual ~CheckpointStore() = default;
  /// Ok: it is on disk in place of the key's former one, and survives a power
  /// loss. Otherwise the former one is untouched.
  virtual Status write(
      const std::string& key,
      CheckpointVersion version,
      const Checkpoint& checkpoint) = 0;
  /// Ok: nothing of the key can be found any more; also where nothing was.
  virtual Status remove(const std::string& key) = 0;
  /// Keeps other processes off the key while the value lives; an error where
  /// one is on it. Its destructor must not call into the coordinator.
  virtual Result<std::shared_ptr<void>> claim(const std::string& key) = 0;

 private:
  friend class ContinuationCore;
  std::atomic<bool> coordinated_{false}; // one coordinator a store
};

} // namespace holdfast
