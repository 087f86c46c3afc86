// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Segments in memory, for tests of their format. Threads: one at a time.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/checksum.h"
#include "holdfast/env/memory_file_system.h"
#include "holdfast/tier/little_endian.h"
#include "holdfast/tier/segment_fields.h"
#include "holdfast/tier/segment_format.h"
#include "holdfast/tier/segment_writer.h"

namespace holdfast::test {

using FileBytes = std::vector<std::byte>;

inline constexpr SegmentIdentity kIdentity{0x0123456789abcdef, 5};

/// What docs/segment.md shows: an image of two planes, a body, an object.
inline FileBytes example_segment() {
  FileBytes image(4096);
  for (size_t i = 0; i < image.size(); ++i) {
    image[i] = static_cast<std::byte>(i % 251);
  }
  const std::string body = "a body";
  const std::string object = "an object";
  SegmentPlan plan;
  SegmentEntry entry;
  entry.slot = {1, 2};
  entry.key = {0x1112131415161718, 0x2122232425262728};
  entry.positions = 64;
  plan.add_image(entry, image, {Bytes(3072), Bytes(1024)});
  plan.add_bytes(ExtentType::kBody, std::as_bytes(std::span(body)));
  plan.add_bytes(ExtentType::kObject, std::as_bytes(std::span(object)));
  const auto files = MemoryFileSystem::make();
  const auto file = files->create("/segment").value();
  plan.write(*file, kIdentity).value();
  FileBytes bytes(static_cast<size_t>(file->facts().value().size.get()));
  file->read(Bytes(0), bytes).check();
  return bytes;
}

/// Parses all of it and compares every checksum; ok, or the first error.
inline Status read_all(std::span<const std::byte> bytes) {
  const auto header = parse_segment_header(
      bytes.first(std::min<size_t>(bytes.size(), kSegmentPage)), "file");
  if (!header.ok()) {
    return header.status();
  }
  if (header.value().file_bytes != Bytes(std::ssize(bytes))) {
    return Status(ErrorCode::kCorrupt, "file: another size");
  }
  const auto directory = parse_segment_directory(
      header.value(),
      bytes.subspan(static_cast<size_t>(header.value().directory_offset.get())),
      "file");
  if (!directory.ok()) {
    return directory.status();
  }
  for (const SegmentEntry& entry : directory.value().entries) {
    Status status = verify_extent(
        directory.value(),
        entry,
        bytes.subspan(
            static_cast<size_t>(entry.offset.get()),
            static_cast<size_t>(entry.bytes.get())),
        "file");
    if (!status.ok()) {
      return status;
    }
  }
  return Status();
}

/// Makes the checksums of directory and header right, so that only the fields
/// themselves can be wrong. Needs a directory offset within the file.
inline void seal(std::span<std::byte> bytes) {
  namespace at = segment_fields;
  const auto offset = load_le<uint64_t>(bytes, at::kDirectoryOffset);
  if (offset < bytes.size()) {
    store_le<uint64_t>(
        bytes,
        at::kDirectoryChecksum,
        checksum(bytes.subspan(static_cast<size_t>(offset))));
  }
  store_le<uint64_t>(
      bytes, at::kHeaderChecksum, checksum(bytes.first(at::kHeaderChecksum)));
}

} // namespace holdfast::test
