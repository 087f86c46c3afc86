// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One open file of memory_file_system, and what all its handles share. Threads:
// any; every call holds the device's mutex.

#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "holdfast/env/memory_file_system.h"
#include "holdfast/env/memory_tree.h"

namespace holdfast {

/// What all handles of one file system share.
struct MemoryDevice {
  mutable std::mutex mutex;
  MemoryTree tree;
  int64_t room = 0;
  bool read_only = false;
  bool can_punch = true;
  FileCounts counts;
  std::set<const MemoryNode*> locked;
  std::condition_variable unlocked;

  /// Ok unless read-only.
  Status writable(const std::string& path) const {
    return read_only
        ? Status(ErrorCode::kIo, path + ": the file system is read-only")
        : Status();
  }
};
using MemoryDevicePtr = std::shared_ptr<MemoryDevice>;

FileFacts memory_facts(const MemoryNode& node);

class MemoryFile : public File, public LossyFile {
 public:
  MemoryFile(
      MemoryDevicePtr device,
      MemoryUsePtr use,
      std::string path,
      FileSystem::Access access)
      : device_(std::move(device)),
        use_(std::move(use)),
        path_(std::move(path)),
        access_(access) {}

  Status read(Bytes offset, std::span<std::byte> into) const override;
  Status write(Bytes offset, std::span<const std::byte> from) override;
  Status write_pieces(Bytes offset, Pieces pieces, Remember remember) override;
  Status truncate(Bytes size) override;
  Status sync() override;
  Status punch(Bytes offset, Bytes length) override;
  Result<FileFacts> facts() const override {
    const std::lock_guard hold(device_->mutex);
    return memory_facts(use_->node());
  }
  Result<MappedBytes> map(Bytes offset, Bytes length) const override;
  const std::string& path() const override {
    return path_;
  }
  void lose_unsynced() override {
    const std::lock_guard hold(device_->mutex);
    use_->node().bytes.lose();
  }

 private:
  Status may_write() const;
  Status is_range(Bytes offset, int64_t length) const;
  Status within(Bytes offset, int64_t length) const;
  /// Books a change that was made, with the room that it took or gave.
  void changed(int64_t allocated_before);

  MemoryDevicePtr device_;
  MemoryUsePtr use_;
  std::string path_;
  FileSystem::Access access_;
};

} // namespace holdfast
