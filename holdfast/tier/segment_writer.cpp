// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/segment_writer.h"

#include "holdfast/base/bits.h"
#include "holdfast/base/checksum.h"

namespace holdfast {

namespace {

// A device wants writes of a mebibyte; smaller extents are gathered.
constexpr size_t kGathered = size_t{1} << 20;

/// Writes a run of bytes without gaps, in large pieces.
class Stream {
 public:
  Stream(File& file, Bytes begin) : file_(file), at_(begin) {}

  Status append(std::span<const std::byte> bytes) {
    if (bytes.size() >= kGathered) {
      Status status = flush();
      return status.ok() ? put(bytes) : status;
    }
    gathered_.insert(gathered_.end(), bytes.begin(), bytes.end());
    return gathered_.size() >= kGathered ? flush() : Status();
  }
  void pad() {
    const auto size = static_cast<int64_t>(gathered_.size());
    const int64_t end = at_.get() + size;
    gathered_.resize(
        static_cast<size_t>(size + round_up(end, kSegmentPage) - end));
  }
  Status flush() {
    const Status status = put(gathered_);
    gathered_.clear();
    return status;
  }

 private:
  Status put(std::span<const std::byte> bytes) {
    if (bytes.empty()) {
      return Status();
    }
    Status status = file_.write(at_, bytes);
    at_ += Bytes(static_cast<int64_t>(bytes.size()));
    return status;
  }

  File& file_;
  Bytes at_;
  std::vector<std::byte> gathered_;
};

} // namespace

size_t SegmentPlan::add(SegmentEntry entry, std::span<const std::byte> bytes) {
  entry.offset = end_;
  entry.bytes = Bytes(static_cast<int64_t>(bytes.size()));
  entry.first_checksum = static_cast<uint32_t>(directory_.checksums.size());
  directory_.checksums.resize(
      directory_.checksums.size() + entry.checksum_count);
  end_ += Bytes(round_up(entry.bytes.get(), kSegmentPage));
  directory_.entries.push_back(entry);
  bytes_.push_back(bytes);
  return bytes_.size() - 1;
}

size_t SegmentPlan::add_image(
    const SegmentEntry& what,
    std::span<const std::byte> bytes,
    const std::vector<Bytes>& planes) {
  SegmentEntry entry;
  entry.type = ExtentType::kImage;
  entry.slot = what.slot;
  entry.key = what.key;
  entry.positions = what.positions;
  entry.checksum_count = 1;
  if (!planes.empty()) {
    const auto [place, added] = layouts_.try_emplace(
        planes, static_cast<uint32_t>(directory_.layouts.size()));
    if (added) {
      directory_.layouts.push_back(planes);
    }
    entry.layout = place->second;
    entry.checksum_count = static_cast<uint32_t>(planes.size());
  }
  return add(entry, bytes);
}

size_t
SegmentPlan::add_bytes(ExtentType type, std::span<const std::byte> bytes) {
  SegmentEntry entry;
  entry.type = type;
  entry.checksum_count = 1;
  return add(entry, bytes);
}

Bytes SegmentPlan::file_bytes() const {
  if (empty()) {
    return Bytes();
  }
  int64_t directory = kSegmentEntryBytes * std::ssize(directory_.entries) +
      8 * std::ssize(directory_.checksums);
  for (const auto& lengths : directory_.layouts) {
    directory += 8 + 8 * std::ssize(lengths);
  }
  return end_ + Bytes(round_up(directory, kSegmentPage));
}

Result<uint64_t>
SegmentPlan::write(File& file, SegmentIdentity identity) const {
  SegmentDirectory directory = directory_;
  Stream stream(file, Bytes(kSegmentPage));
  for (size_t i = 0; i < bytes_.size(); ++i) {
    const SegmentEntry& entry = directory.entries[i];
    std::span<const std::byte> rest = bytes_[i];
    for (uint32_t c = 0; c < entry.checksum_count; ++c) {
      const size_t length = entry.layout == kNoPlanes
          ? rest.size()
          : static_cast<size_t>(directory.layouts[entry.layout][c].get());
      directory.checksums[entry.first_checksum + c] =
          checksum(rest.first(length));
      rest = rest.subspan(length);
    }
    if (Status status = stream.append(bytes_[i]); !status.ok()) {
      return status;
    }
    stream.pad();
  }
  const std::vector<std::byte> encoded = encode_segment_directory(directory);
  if (Status status = stream.append(encoded); !status.ok()) {
    return status;
  }
  if (Status status = stream.flush(); !status.ok()) {
    return status;
  }
  SegmentHeader header;
  header.identity = identity;
  header.file_bytes = file_bytes();
  header.directory_offset = end_;
  header.layouts = static_cast<uint32_t>(directory.layouts.size());
  header.entries = static_cast<uint32_t>(directory.entries.size());
  header.checksums = static_cast<uint32_t>(directory.checksums.size());
  header.directory_checksum = checksum(encoded);
  const SegmentPage page = encode_segment_header(header);
  if (Status status = file.write(Bytes(0), page); !status.ok()) {
    return status;
  }
  if (Status status = file.sync(); !status.ok()) {
    return status;
  }
  return segment_header_checksum(page);
}

} // namespace holdfast
