// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/segment_mapping.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace holdfast {

namespace {

/// True for what says that the file is not what it should be. The rest, such as
/// kIo, says nothing about it: it may well be read the next time.
bool is_of_the_file(ErrorCode code) {
  return code == ErrorCode::kNotFound || code == ErrorCode::kInvalidArgument ||
      code == ErrorCode::kCorrupt || code == ErrorCode::kUnsupported;
}

Status not_the_segment(const std::string& path, const std::string& what) {
  return Status(
      ErrorCode::kCorrupt,
      path + ": expected the segment that the manifest names, got " + what);
}

Result<SegmentContent> read_content(const File& file, const SegmentRow& row) {
  Result<SegmentContent> content = read_segment(file);
  if (!content.ok()) {
    // Another version under a name of ours is as good as damage.
    return is_of_the_file(content.status().code())
        ? Status(ErrorCode::kCorrupt, content.status().text())
        : content.status();
  }
  const SegmentContent& got = content.value();
  if (got.header.identity != row.identity ||
      got.header_checksum != row.checksum ||
      got.header.file_bytes != row.bytes) {
    return not_the_segment(file.path(), "another one");
  }
  return content;
}

} // namespace

Result<std::shared_ptr<SegmentMapping>> SegmentMapping::open(
    std::shared_ptr<TierFolder> folder,
    const SegmentRow& row,
    std::span<const NamedExtent> named) {
  std::shared_ptr<SegmentMapping> mapping(
      new SegmentMapping(std::move(folder)));
  for (const NamedExtent& each : named) {
    mapping->live_.push_back(each.extent);
  }
  mapping->path_ = mapping->folder_->segment_path(row.identity);
  FileSystem& files = mapping->folder_->files();
  Result<std::unique_ptr<File>> file =
      files.open(mapping->path_, FileSystem::Access::kRead);
  if (!file.ok()) {
    return is_of_the_file(file.status().code())
        ? not_the_segment(mapping->path_, file.status().text())
        : file.status();
  }
  Result<SegmentContent> content = read_content(*file.value(), row);
  if (!content.ok()) {
    return content.status();
  }
  mapping->content_ = std::move(content).value();
  try {
    mapping->lease_ = mapping->folder_->lease(row.identity);
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
  Result<MappedBytes> bytes = file.value()->map(Bytes(0), row.bytes);
  if (!bytes.ok()) {
    return bytes.status();
  }
  mapping->bytes_ = std::move(bytes).value();
  mapping->verified_ = std::vector<std::atomic<bool>>(
      mapping->content_.directory.entries.size());
  return mapping;
}

SegmentMapping::~SegmentMapping() {
  bytes_.reset();
  if (!lease_.empty()) {
    // Where this fails the lease lasts until the tier is gone.
    std::ignore = folder_->files().remove(lease_);
  }
}

bool SegmentMapping::agrees(const NamedExtent& named) {
  const SegmentEntry* entry =
      content_.directory.find(named.extent.offset, named.extent.bytes);
  const bool same = entry && entry->type == named.type &&
      entry->slot == named.slot && entry->key == named.key &&
      entry->positions == named.positions;
  if (!same) {
    refused_.insert(named.extent.offset);
  }
  return same;
}

Result<size_t> SegmentMapping::find(Bytes offset, Bytes bytes) const {
  // Not equal_range: clang 14 does not read this library's subranges.
  const auto first =
      std::ranges::lower_bound(live_, offset, {}, &Extent::offset);
  const auto end = std::ranges::upper_bound(live_, offset, {}, &Extent::offset);
  if (std::ranges::find(first, end, bytes, &Extent::bytes) == end ||
      refused_.contains(offset)) {
    return Status(
        ErrorCode::kNotFound,
        path_ +
            ": expected bytes that the manifest names, got some that were "
            "evicted or dropped");
  }
  const SegmentEntry* entry = content_.directory.find(offset, bytes);
  if (!entry) {
    return Status(
        ErrorCode::kCorrupt,
        path_ + ": expected " + std::to_string(bytes.get()) +
            " bytes at offset " + std::to_string(offset.get()) +
            ", got no such extent");
  }
  return static_cast<size_t>(entry - content_.directory.entries.data());
}

Status SegmentMapping::verify(size_t index, bool once) const {
  if (once && verified_[index].load(std::memory_order_acquire)) {
    return Status();
  }
  const SegmentEntry& entry = content_.directory.entries[index];
  const std::span bytes(
      address(entry.offset), static_cast<size_t>(entry.bytes.get()));
  Status status = verify_extent(content_.directory, entry, bytes, path_);
  if (status.ok()) {
    verified_[index].store(true, std::memory_order_release);
  }
  return status;
}

} // namespace holdfast
