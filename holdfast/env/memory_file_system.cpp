// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/memory_file_system.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "holdfast/env/memory_file.h"

namespace holdfast {

namespace {

Status refusal(const std::string& path, const char* expected) {
  return Status(ErrorCode::kInvalidArgument, path + ": expected " + expected);
}

class MemoryLock : public FileLock {
 public:
  MemoryLock(MemoryDevicePtr device, MemoryUsePtr use)
      : device_(std::move(device)), use_(std::move(use)) {}
  ~MemoryLock() override {
    const std::lock_guard hold(device_->mutex);
    device_->locked.erase(&use_->node());
    device_->unlocked.notify_all();
  }

 private:
  MemoryDevicePtr device_;
  MemoryUsePtr use_;
};

class MemoryFileSystemOnDevice : public MemoryFileSystem {
 public:
  explicit MemoryFileSystemOnDevice(MemoryDevicePtr device)
      : device_(std::move(device)) {}

  Result<std::unique_ptr<File>>
  open(const std::string& path, Access access) override;
  Result<std::unique_ptr<File>> create(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status create_folder(const std::string& path) override;
  Status sync_folder(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Result<FileFacts> facts(const std::string& path) override;
  Result<Bytes> free_space(const std::string& path) override;
  Result<std::unique_ptr<FileLock>>
  lock(const std::string& path, Wait wait) override;
  Status will_need(std::span<const std::byte> mapped) override {
    const std::lock_guard hold(device_->mutex);
    ++device_->counts.needs;
    device_->counts.bytes_needed += Bytes(static_cast<int64_t>(mapped.size()));
    return {};
  }
  std::shared_ptr<MemoryFileSystem> power_loss(PowerLoss loss) const override;
  void set_room(Bytes room) override {
    const std::lock_guard hold(device_->mutex);
    device_->room = room.get();
  }
  void set_read_only(bool read_only) override {
    const std::lock_guard hold(device_->mutex);
    device_->read_only = read_only;
  }
  void set_can_punch(bool can_punch) override {
    const std::lock_guard hold(device_->mutex);
    device_->can_punch = can_punch;
  }
  FileCounts counts() const override {
    const std::lock_guard hold(device_->mutex);
    return device_->counts;
  }

 private:
  /// What is there; kNotFound.
  Result<MemoryTree::Place> find(const std::string& path) const {
    Result<MemoryTree::Place> place = device_->tree.find(path);
    if (place.ok() && place.value().use == nullptr) {
      return Status(ErrorCode::kNotFound, path + ": no such file");
    }
    return place;
  }
  Result<MemoryUsePtr> find_folder(const std::string& path) const {
    Result<MemoryTree::Place> place = find(path);
    if (!place.ok()) {
      return place.status();
    }
    if (!place.value().use->node().folder) {
      return refusal(path, "a folder");
    }
    return place.value().use;
  }
  Result<MemoryUsePtr> make(const std::string& path, bool folder) {
    const Result<MemoryTree::Place> place = device_->tree.find(path);
    if (!place.ok()) {
      return place.status();
    }
    if (place.value().use != nullptr) {
      return refusal(path, "a new name, it exists");
    }
    Status status = device_->writable(path);
    if (!status.ok()) {
      return status;
    }
    return device_->tree.add(place.value(), folder);
  }

  MemoryDevicePtr device_;
};

using Place = MemoryTree::Place;

Result<std::unique_ptr<File>>
MemoryFileSystemOnDevice::open(const std::string& path, Access access) {
  const std::lock_guard hold(device_->mutex);
  Result<Place> place = find(path);
  if (!place.ok()) {
    return place.status();
  }
  const MemoryUsePtr& use = place.value().use;
  if (use->node().folder) {
    return refusal(path, "a regular file");
  }
  if (access == Access::kReadWrite) {
    Status status = device_->writable(path);
    if (!status.ok()) {
      return status;
    }
  }
  ++device_->counts.opens;
  return std::unique_ptr<File>(
      std::make_unique<MemoryFile>(device_, use, path, access));
}

Result<std::unique_ptr<File>>
MemoryFileSystemOnDevice::create(const std::string& path) {
  const std::lock_guard hold(device_->mutex);
  Result<MemoryUsePtr> made = make(path, false);
  if (!made.ok()) {
    return made.status();
  }
  ++device_->counts.creates;
  return std::unique_ptr<File>(std::make_unique<MemoryFile>(
      device_, made.value(), path, Access::kReadWrite));
}

Status MemoryFileSystemOnDevice::rename(
    const std::string& from,
    const std::string& to) {
  const std::lock_guard hold(device_->mutex);
  const Result<Place> source = device_->tree.find(from);
  if (!source.ok()) {
    return source.status();
  }
  const Result<Place> target = device_->tree.find(to);
  if (!target.ok()) {
    return target.status();
  }
  if (source.value().use == nullptr) {
    return Status(ErrorCode::kNotFound, from + ": no such file");
  }
  Status status = device_->writable(from);
  if (status.ok()) {
    status = device_->tree.rename(source.value(), target.value());
  }
  device_->counts.renames += status.ok() ? 1 : 0;
  return status;
}

Status MemoryFileSystemOnDevice::remove(const std::string& path) {
  const std::lock_guard hold(device_->mutex);
  const Result<Place> place = find(path);
  if (!place.ok()) {
    return place.status();
  }
  if (place.value().folder == nullptr ||
      !place.value().use->node().seen.empty()) {
    return refusal(path, "a file or an empty folder");
  }
  Status status = device_->writable(path);
  if (status.ok()) {
    device_->tree.remove(place.value());
    ++device_->counts.removes;
  }
  return status;
}

Status MemoryFileSystemOnDevice::create_folder(const std::string& path) {
  const std::lock_guard hold(device_->mutex);
  const Result<Place> place = device_->tree.find(path);
  if (!place.ok()) {
    return place.status();
  }
  if (const MemoryUsePtr& use = place.value().use) {
    return use->node().folder ? Status() : refusal(path, "a folder");
  }
  return make(path, true).status();
}

Status MemoryFileSystemOnDevice::sync_folder(const std::string& path) {
  const std::lock_guard hold(device_->mutex);
  const Result<MemoryUsePtr> folder = find_folder(path);
  if (folder.ok()) {
    device_->tree.sync(folder.value()->node());
    ++device_->counts.folder_syncs;
  }
  return folder.status();
}

Result<std::vector<std::string>>
MemoryFileSystemOnDevice::list(const std::string& path) {
  const std::lock_guard hold(device_->mutex);
  const Result<MemoryUsePtr> folder = find_folder(path);
  if (!folder.ok()) {
    return folder.status();
  }
  std::vector<std::string> names;
  for (const auto& [name, use] : folder.value()->node().seen) {
    names.push_back(name);
  }
  return names;
}

Result<FileFacts> MemoryFileSystemOnDevice::facts(const std::string& path) {
  const std::lock_guard hold(device_->mutex);
  const Result<Place> place = find(path);
  if (!place.ok()) {
    return place.status();
  }
  return memory_facts(place.value().use->node());
}

Result<Bytes> MemoryFileSystemOnDevice::free_space(const std::string& path) {
  const std::lock_guard hold(device_->mutex);
  const Result<Place> place = find(path);
  if (!place.ok()) {
    return place.status();
  }
  return Bytes(
      std::max<int64_t>(device_->room - device_->tree.room_used().load(), 0));
}

Result<std::unique_ptr<FileLock>>
MemoryFileSystemOnDevice::lock(const std::string& path, Wait wait) {
  std::unique_lock hold(device_->mutex);
  for (;;) {
    Result<Place> place = device_->tree.find(path);
    if (!place.ok()) {
      return place.status();
    }
    MemoryUsePtr use = place.value().use;
    if (use == nullptr) {
      Result<MemoryUsePtr> made = make(path, false);
      if (!made.ok()) {
        return made.status();
      }
      use = made.value();
    }
    if (use->node().folder) {
      return refusal(path, "a regular file");
    }
    if (device_->locked.insert(&use->node()).second) {
      return std::unique_ptr<FileLock>(
          std::make_unique<MemoryLock>(device_, std::move(use)));
    }
    if (wait == Wait::kNo) {
      return Status(ErrorCode::kOutOfBudget, path + ": another holds the lock");
    }
    // The name may lead to another file afterwards.
    device_->unlocked.wait(hold);
  }
}

std::shared_ptr<MemoryFileSystem>
MemoryFileSystemOnDevice::power_loss(PowerLoss loss) const {
  const std::lock_guard hold(device_->mutex);
  auto after = std::make_shared<MemoryDevice>();
  after->tree = device_->tree.after_loss(loss);
  after->room = device_->room;
  return std::make_shared<MemoryFileSystemOnDevice>(std::move(after));
}

} // namespace

std::shared_ptr<MemoryFileSystem> MemoryFileSystem::make(Bytes room) {
  auto device = std::make_shared<MemoryDevice>();
  device->room = room.get();
  return std::make_shared<MemoryFileSystemOnDevice>(std::move(device));
}

} // namespace holdfast
