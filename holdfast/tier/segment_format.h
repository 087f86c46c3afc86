// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The bytes of a segment file: header page, extents, directory; see
// docs/segment.md. Encoders and parsers over memory, without files.
//
// Parsers take any bytes: they read nothing outside, allocate no more than a
// small multiple of what they are given, and check every field before its use.
// Values; any thread.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/base/strong.h"
#include "holdfast/tier/ids.h"

namespace holdfast {

inline constexpr int64_t kSegmentPage = 4096;
inline constexpr uint32_t kSegmentVersion = 1;
inline constexpr std::string_view kSegmentMagic = "holdfast";
/// Bytes of an entry in the directory.
inline constexpr int64_t kSegmentEntryBytes = 64;
/// SegmentEntry::layout of an extent with one checksum.
inline constexpr uint32_t kNoPlanes = 0xffffffff;

/// A segment's own name, never given twice: of the tier that wrote it, and a
/// count. Also its file name; see segment_file_name().
struct SegmentIdentity {
  uint64_t writer = 0;
  uint64_t number = 0;
  auto operator<=>(const SegmentIdentity&) const = default;
};

struct SegmentHeader {
  SegmentIdentity identity;
  Bytes file_bytes;
  Bytes directory_offset; // the directory is what follows, to the file's end
  uint32_t layouts = 0;
  uint32_t entries = 0;
  uint32_t checksums = 0;
  uint64_t directory_checksum = 0;
};

enum class ExtentType : uint32_t { kImage = 1, kBody = 2, kObject = 3 };

struct SegmentEntry {
  ExtentType type = ExtentType::kImage;
  ImageSlot slot; // images
  uint32_t layout = kNoPlanes; // index in SegmentDirectory::layouts
  Bytes offset; // whole pages, in the order of the entries
  Bytes bytes; // the rest of its last page is zero
  Key128 key; // images: of the node
  uint32_t first_checksum = 0;
  uint32_t checksum_count = 0; // of its layout's planes, or 1
  uint32_t positions = 0; // images: tokens of the node
};

struct SegmentDirectory {
  std::vector<std::vector<Bytes>> layouts; // lengths of planes
  std::vector<SegmentEntry> entries;
  std::vector<uint64_t> checksums;

  /// The entry that has exactly these bytes, or null.
  const SegmentEntry* find(Bytes offset, Bytes bytes) const;
};

using SegmentPage = std::array<std::byte, kSegmentPage>;

/// The header page, its checksum included.
SegmentPage encode_segment_header(const SegmentHeader& header);
/// The directory, a whole number of pages.
std::vector<std::byte>
encode_segment_directory(const SegmentDirectory& directory);
/// The checksum in an encoded header page: it stands for the whole segment.
uint64_t segment_header_checksum(std::span<const std::byte> page);

/// kCorrupt, or kUnsupported for another version, page size or image layout.
/// `file` is for the text.
Result<SegmentHeader>
parse_segment_header(std::span<const std::byte> page, std::string_view file);
/// `bytes`: from header.directory_offset to the file's end.
Result<SegmentDirectory> parse_segment_directory(
    const SegmentHeader& header,
    std::span<const std::byte> bytes,
    std::string_view file);

/// Compares the extent's bytes with its checksums; kCorrupt names the first
/// plane that differs.
Status verify_extent(
    const SegmentDirectory& directory,
    const SegmentEntry& entry,
    std::span<const std::byte> bytes,
    std::string_view file);

} // namespace holdfast
