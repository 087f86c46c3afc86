// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Files and folders in memory, with a device behind them that can lose power:
// bytes are on it after File::sync, names after sync_folder, nothing before.
// As the system's, but: relative paths start at the root, mappings read zeros
// where their file was cut short, and may not show later writes. Threads: any.

#pragma once

#include <cstdint>
#include <memory>

#include "holdfast/env/file_system.h"
#include "holdfast/env/power_loss.h"

namespace holdfast {

/// A file whose device can fail a sync.
class LossyFile {
 public:
  virtual ~LossyFile() = default;
  /// As a failed sync leaves it: readers see everything, but what was not on
  /// the device will not get there by a later sync.
  virtual void lose_unsynced() = 0;
};

/// Calls that succeeded, and their bytes.
struct FileCounts {
  int64_t opens = 0;
  int64_t creates = 0;
  int64_t reads = 0;
  int64_t writes = 0;
  int64_t syncs = 0;
  int64_t punches = 0;
  int64_t maps = 0;
  int64_t renames = 0;
  int64_t removes = 0;
  int64_t folder_syncs = 0;
  int64_t needs = 0; // will_need
  Bytes bytes_read;
  Bytes bytes_needed;
  Bytes bytes_written;
};

class MemoryFileSystem : public FileSystem {
 public:
  /// An empty one with room for `room` bytes of files, in pages of 4096.
  static std::shared_ptr<MemoryFileSystem>
  make(Bytes room = Bytes(int64_t{1} << 50));

  /// The file system that the machine finds after `loss`; this one goes on as
  /// if nothing had happened. Locks are gone.
  virtual std::shared_ptr<MemoryFileSystem>
  power_loss(PowerLoss loss) const = 0;
  /// Less than what files take is allowed: then nothing more can be written.
  virtual void set_room(Bytes room) = 0;
  /// While true, whatever would change something is kIo.
  virtual void set_read_only(bool read_only) = 0;
  /// While false, punching is kUnsupported, as on some file systems.
  virtual void set_can_punch(bool can_punch) = 0;
  virtual FileCounts counts() const = 0;
};

} // namespace holdfast
