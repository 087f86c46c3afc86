// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/memory_file.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace holdfast {

namespace {

constexpr int64_t kMaxMemoryFile = int64_t{1} << 32;

Status refusal(const std::string& path, const char* expected) {
  return Status(ErrorCode::kInvalidArgument, path + ": expected " + expected);
}

} // namespace

FileFacts memory_facts(const MemoryNode& node) {
  FileFacts facts;
  facts.kind = node.folder ? FileFacts::Kind::kFolder : FileFacts::Kind::kFile;
  facts.device = 1;
  facts.inode = node.number;
  facts.size = Bytes(node.bytes.size());
  facts.allocated = Bytes(node.bytes.allocated());
  facts.modified_ns = node.modified_ns;
  facts.changed_ns = node.changed_ns;
  facts.mode = node.folder ? 0700 : 0600;
  return facts;
}

Status MemoryFile::may_write() const {
  return access_ == FileSystem::Access::kReadWrite
      ? device_->writable(path_)
      : refusal(path_, "a file that is open for writing");
}

Status MemoryFile::is_range(Bytes offset, int64_t length) const {
  const bool is = offset.get() >= 0 && length >= 0 &&
      length <= std::numeric_limits<int64_t>::max() - offset.get();
  return is ? Status() : refusal(path_, "a range of a file");
}

Status MemoryFile::within(Bytes offset, int64_t length) const {
  Status status = is_range(offset, length);
  const int64_t size = use_->node().bytes.size();
  if (status.ok() && offset.get() + length > size) {
    return Status(
        ErrorCode::kCorrupt,
        path_ + ": expected " + std::to_string(length) + " bytes from " +
            std::to_string(offset.get()) + ", the file has " +
            std::to_string(size));
  }
  return status;
}

void MemoryFile::changed(int64_t allocated_before) {
  MemoryNode& node = use_->node();
  device_->tree.room_used().fetch_add(
      node.bytes.allocated() - allocated_before);
  node.modified_ns = node.changed_ns = device_->tree.tick();
}

Status MemoryFile::read(Bytes offset, std::span<std::byte> into) const {
  const std::lock_guard hold(device_->mutex);
  const auto length = static_cast<int64_t>(into.size());
  Status status = into.empty() ? is_range(offset, 0) : within(offset, length);
  if (!status.ok()) {
    return status;
  }
  if (!into.empty()) {
    use_->node().bytes.read(offset.get(), into);
  }
  ++device_->counts.reads;
  device_->counts.bytes_read += Bytes(length);
  return {};
}

Status MemoryFile::write(Bytes offset, std::span<const std::byte> from) {
  const std::lock_guard hold(device_->mutex);
  const auto length = static_cast<int64_t>(from.size());
  Status status = is_range(offset, length);
  if (!status.ok() || from.empty()) {
    return status;
  }
  status = may_write();
  if (!status.ok()) {
    return status;
  }
  if (offset.get() + length > kMaxMemoryFile) {
    return Status(ErrorCode::kIo, path_ + ": cannot write: too large");
  }
  MemoryBytes& bytes = use_->node().bytes;
  const int64_t before = bytes.allocated();
  const int64_t room = device_->room - device_->tree.room_used().load();
  // What fits is written, as a system does.
  int64_t fitting = length;
  while (fitting > 0 && bytes.growth(offset.get(), fitting) > room) {
    const int64_t page_begin =
        (offset.get() + fitting - 1) / kMemoryPageBytes * kMemoryPageBytes;
    fitting = std::max<int64_t>(page_begin - offset.get(), 0);
  }
  if (fitting > 0) {
    bytes.write(offset.get(), from.first(static_cast<size_t>(fitting)));
    changed(before);
    device_->counts.bytes_written += Bytes(fitting);
  }
  if (fitting < length) {
    return Status(
        ErrorCode::kOutOfBudget,
        path_ + ": cannot write: no room left on the device");
  }
  ++device_->counts.writes;
  return {};
}

Status MemoryFile::write_pieces(Bytes offset, Pieces pieces, Remember) {
  std::vector<std::byte> all;
  for (const auto piece : pieces) {
    all.insert(all.end(), piece.begin(), piece.end());
  }
  return write(offset, all);
}

Status MemoryFile::truncate(Bytes size) {
  const std::lock_guard hold(device_->mutex);
  Status status = is_range(size, 0);
  status = status.ok() ? may_write() : status;
  if (!status.ok()) {
    return status;
  }
  if (size.get() > kMaxMemoryFile) {
    return Status(ErrorCode::kIo, path_ + ": cannot truncate: too large");
  }
  MemoryBytes& bytes = use_->node().bytes;
  const int64_t before = bytes.allocated();
  bytes.truncate(size.get());
  changed(before);
  return {};
}

Status MemoryFile::sync() {
  const std::lock_guard hold(device_->mutex);
  use_->node().bytes.sync();
  ++device_->counts.syncs;
  return {};
}

Status MemoryFile::punch(Bytes offset, Bytes length) {
  const std::lock_guard hold(device_->mutex);
  Status status = is_range(offset, length.get());
  if (!status.ok() || length.get() == 0) {
    return status;
  }
  status = may_write();
  if (!status.ok()) {
    return status;
  }
  if (!device_->can_punch) {
    return Status(ErrorCode::kUnsupported, path_ + ": cannot punch");
  }
  MemoryBytes& bytes = use_->node().bytes;
  const int64_t before = bytes.allocated();
  bytes.punch(offset.get(), length.get());
  changed(before);
  ++device_->counts.punches;
  return {};
}

Result<MappedBytes> MemoryFile::map(Bytes offset, Bytes length) const {
  const std::lock_guard hold(device_->mutex);
  if (offset.get() % kMemoryPageBytes != 0) {
    return refusal(path_, "a multiple of 4096 to map from");
  }
  Status status = within(offset, length.get());
  if (!status.ok()) {
    return status;
  }
  ++device_->counts.maps;
  // The mapping keeps the file's room, and its bytes.
  struct Mapping {
    MemoryUsePtr use;
    std::shared_ptr<const std::byte> bytes;
  };
  const auto mapping = std::make_shared<Mapping>(
      Mapping{use_, use_->node().bytes.map(offset.get())});
  return MappedBytes(mapping, mapping->bytes.get());
}

} // namespace holdfast
