// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/segment_format.h"

#include <algorithm>
#include <string>

#include "holdfast/base/bits.h"
#include "holdfast/base/checksum.h"
#include "holdfast/block/layout.h"
#include "holdfast/tier/little_endian.h"
#include "holdfast/tier/segment_fields.h"

namespace holdfast {

namespace {

namespace at = segment_fields;

size_t layout_bytes(const std::vector<Bytes>& lengths) {
  return 8 + 8 * lengths.size();
}

void encode_entry(const SegmentEntry& entry, std::span<std::byte> out) {
  store_le<uint32_t>(out, at::kType, static_cast<uint32_t>(entry.type));
  store_le<int32_t>(out, at::kGroup, entry.slot.group);
  store_le<int32_t>(out, at::kPhase, entry.slot.phase);
  store_le<uint32_t>(out, at::kLayout, entry.layout);
  store_le<int64_t>(out, at::kOffset, entry.offset.get());
  store_le<int64_t>(out, at::kBytes, entry.bytes.get());
  store_le<uint64_t>(out, at::kKeyHigh, entry.key.high);
  store_le<uint64_t>(out, at::kKeyLow, entry.key.low);
  store_le<uint32_t>(out, at::kFirstChecksum, entry.first_checksum);
  store_le<uint32_t>(out, at::kChecksumCount, entry.checksum_count);
  store_le<uint32_t>(out, at::kPositions, entry.positions);
}

} // namespace

const SegmentEntry* SegmentDirectory::find(Bytes offset, Bytes bytes) const {
  const auto found = std::ranges::lower_bound(
      entries, offset, {}, [](const SegmentEntry& e) { return e.offset; });
  return found != entries.end() && found->offset == offset &&
          found->bytes == bytes
      ? &*found
      : nullptr;
}

SegmentPage encode_segment_header(const SegmentHeader& header) {
  SegmentPage page{};
  const std::span<std::byte> out(page);
  std::memcpy(page.data(), kSegmentMagic.data(), kSegmentMagic.size());
  store_le<uint32_t>(out, at::kVersion, kSegmentVersion);
  store_le<uint32_t>(out, at::kPageBytes, kSegmentPage);
  store_le<uint32_t>(out, at::kImageLayout, kImageLayoutVersion);
  store_le<uint32_t>(out, at::kBlockTokens, kBlockTokens);
  store_le<uint64_t>(out, at::kWriter, header.identity.writer);
  store_le<uint64_t>(out, at::kNumber, header.identity.number);
  store_le<int64_t>(out, at::kFileBytes, header.file_bytes.get());
  store_le<int64_t>(out, at::kDirectoryOffset, header.directory_offset.get());
  store_le<uint32_t>(out, at::kLayouts, header.layouts);
  store_le<uint32_t>(out, at::kEntries, header.entries);
  store_le<uint32_t>(out, at::kChecksums, header.checksums);
  store_le<uint64_t>(out, at::kDirectoryChecksum, header.directory_checksum);
  store_le<uint64_t>(
      out, at::kHeaderChecksum, checksum(out.first<at::kHeaderChecksum>()));
  return page;
}

uint64_t segment_header_checksum(std::span<const std::byte> page) {
  return load_le<uint64_t>(page, at::kHeaderChecksum);
}

std::vector<std::byte>
encode_segment_directory(const SegmentDirectory& directory) {
  size_t size = kSegmentEntryBytes * directory.entries.size() +
      8 * directory.checksums.size();
  for (const auto& lengths : directory.layouts) {
    size += layout_bytes(lengths);
  }
  const auto pages = round_up(static_cast<int64_t>(size), kSegmentPage);
  std::vector<std::byte> bytes(static_cast<size_t>(pages));
  std::span<std::byte> rest(bytes);
  for (const auto& lengths : directory.layouts) {
    store_le<uint32_t>(rest, 0, static_cast<uint32_t>(lengths.size()));
    for (size_t i = 0; i < lengths.size(); ++i) {
      store_le<int64_t>(rest, 8 + 8 * i, lengths[i].get());
    }
    rest = rest.subspan(layout_bytes(lengths));
  }
  for (const SegmentEntry& entry : directory.entries) {
    encode_entry(entry, rest);
    rest = rest.subspan(kSegmentEntryBytes);
  }
  for (const uint64_t checksum : directory.checksums) {
    store_le<uint64_t>(rest, 0, checksum);
    rest = rest.subspan(8);
  }
  return bytes;
}

Status verify_extent(
    const SegmentDirectory& directory,
    const SegmentEntry& entry,
    std::span<const std::byte> bytes,
    std::string_view file) {
  std::span<const std::byte> rest = bytes;
  for (uint32_t i = 0; i < entry.checksum_count; ++i) {
    const size_t length = entry.layout == kNoPlanes
        ? rest.size()
        : static_cast<size_t>(directory.layouts[entry.layout][i].get());
    const uint64_t expected = directory.checksums[entry.first_checksum + i];
    const uint64_t got = checksum(rest.first(length));
    if (got != expected) {
      const int64_t offset =
          entry.offset.get() + static_cast<int64_t>(bytes.size() - rest.size());
      return Status(
          ErrorCode::kCorrupt,
          std::string(file) + ": plane " + std::to_string(i) + " at offset " +
              std::to_string(offset) + ": expected checksum " +
              std::to_string(expected) + ", got " + std::to_string(got));
    }
    rest = rest.subspan(length);
  }
  return Status();
}

} // namespace holdfast
