// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/segment_writer.h"

#include <algorithm>
#include <memory>

#include "holdfast/base/bits.h"
#include "holdfast/base/checksum.h"
#include "holdfast/env/pages.h"

namespace holdfast {

namespace {

// A device wants large requests; a call has as much of them as this.
constexpr int64_t kRequest = int64_t{8} << 20;
// Smaller extents that do not lie on pages are copied there.
constexpr int64_t kGathered = int64_t{1} << 20;
// A segment that is larger goes straight to the device: it would cost a copy,
// and push out of the system's memory what is read more often.
constexpr int64_t kLarge = int64_t{8} << 20;

/// Writes a run of extents without gaps, in large requests, each extent from a
/// page on and with zeros to the end of its last.
class Stream {
 public:
  Stream(File& file, Bytes begin, File::Remember remember)
      : file_(file), at_(begin), remember_(remember) {}

  Status append(std::span<const std::byte> bytes) {
    const auto size = static_cast<int64_t>(bytes.size());
    const bool on_pages =
        reinterpret_cast<uintptr_t>(bytes.data()) % kSegmentPage == 0;
    const int64_t whole =
        on_pages || size >= kGathered ? size / kSegmentPage * kSegmentPage : 0;
    const int64_t end = round_up(size, kSegmentPage);
    if (waiting_ >= kRequest || copied_ + (end - whole) > kGathered) {
      if (Status status = flush(); !status.ok()) {
        return status;
      }
    }
    add(bytes.first(static_cast<size_t>(whole)));
    add(copied(bytes.subspan(static_cast<size_t>(whole)), end - whole));
    return Status();
  }
  Status flush() {
    if (pieces_.empty()) {
      return Status();
    }
    Status status = file_.write_pieces(at_, pieces_, remember_);
    at_ += Bytes(waiting_);
    pieces_.clear();
    waiting_ = 0;
    copied_ = 0;
    return status;
  }

 private:
  void add(std::span<const std::byte> bytes) {
    if (bytes.empty()) {
      return;
    }
    waiting_ += static_cast<int64_t>(bytes.size());
    if (!pieces_.empty() &&
        pieces_.back().data() + pieces_.back().size() == bytes.data()) {
      pieces_.back() = {
          pieces_.back().data(), pieces_.back().size() + bytes.size()};
    } else {
      pieces_.push_back(bytes);
    }
  }
  /// The bytes on pages, and zeros up to `size`.
  std::span<const std::byte>
  copied(std::span<const std::byte> bytes, int64_t size) {
    if (size == 0) {
      return {};
    }
    if (!copies_) {
      copies_ = allocate_pages(kGathered);
    }
    const std::span to(copies_.get() + copied_, static_cast<size_t>(size));
    copied_ += size;
    std::ranges::copy(bytes, to.begin());
    std::ranges::fill(to.subspan(bytes.size()), std::byte{});
    return to;
  }

  File& file_;
  Bytes at_;
  const File::Remember remember_;
  std::vector<std::span<const std::byte>> pieces_; // not written yet
  int64_t waiting_ = 0; // bytes of them
  std::shared_ptr<std::byte> copies_;
  int64_t copied_ = 0; // bytes of it that are in use
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
  Stream stream(
      file,
      Bytes(kSegmentPage),
      file_bytes() > Bytes(kLarge) ? File::Remember::kNo
                                   : File::Remember::kYes);
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
