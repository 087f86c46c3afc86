// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Parsers of the segment format. Inside, the first fault is thrown as an Error;
// the public functions turn it into a Status.

#include <algorithm>
#include <string>

#include "holdfast/base/bits.h"
#include "holdfast/base/checksum.h"
#include "holdfast/block/layout.h"
#include "holdfast/tier/little_endian.h"
#include "holdfast/tier/segment_fields.h"
#include "holdfast/tier/segment_format.h"

namespace holdfast {

namespace {

namespace at = segment_fields;

/// Where a field stands, for the text of a complaint.
struct Place {
  std::string_view file;
  int64_t offset = 0;
};

[[noreturn]] void complain(
    ErrorCode code,
    const Place& place,
    const std::string& field,
    const std::string& expected,
    const std::string& got) {
  throw Error(
      code,
      std::string(place.file) + ": " + field + " at offset " +
          std::to_string(place.offset) + ": expected " + expected + ", got " +
          got);
}

template <class T>
void require_equal(
    T got,
    T expected,
    const Place& place,
    const char* field,
    ErrorCode code = ErrorCode::kCorrupt) {
  if (got != expected) {
    complain(code, place, field, std::to_string(expected), std::to_string(got));
  }
}

void require_zero(std::span<const std::byte> bytes, const Place& place) {
  const auto other =
      std::ranges::find_if(bytes, [](std::byte b) { return b != std::byte{}; });
  if (other != bytes.end()) {
    const Place there{place.file, place.offset + (other - bytes.begin())};
    complain(
        ErrorCode::kCorrupt,
        there,
        "reserved byte",
        "0",
        std::to_string(std::to_integer<int>(*other)));
  }
}

/// A count of bytes that is within [low, high] and a whole number of pages.
Bytes require_pages(
    int64_t value,
    int64_t low,
    int64_t high,
    const Place& place,
    const char* field) {
  if (value < low || value > high || value % kSegmentPage != 0) {
    complain(
        ErrorCode::kCorrupt,
        place,
        field,
        "whole pages in [" + std::to_string(low) + ", " + std::to_string(high) +
            "]",
        std::to_string(value));
  }
  return Bytes(value);
}

SegmentHeader
header_of(std::span<const std::byte> page, std::string_view file) {
  if (page.size() < static_cast<size_t>(kSegmentPage)) {
    complain(
        ErrorCode::kCorrupt,
        {file, 0},
        "header",
        "4096 bytes",
        std::to_string(page.size()));
  }
  if (std::memcmp(page.data(), kSegmentMagic.data(), kSegmentMagic.size())) {
    complain(
        ErrorCode::kCorrupt, {file, 0}, "magic", "\"holdfast\"", "other bytes");
  }
  const auto u32 = [&](size_t offset) {
    return load_le<uint32_t>(page, offset);
  };
  const auto supported = [&](size_t offset, uint32_t expected, const char* f) {
    require_equal(
        u32(offset),
        expected,
        {file, static_cast<int64_t>(offset)},
        f,
        ErrorCode::kUnsupported);
  };
  supported(at::kVersion, kSegmentVersion, "version");
  require_equal(
      load_le<uint64_t>(page, at::kHeaderChecksum),
      checksum(page.first(at::kHeaderChecksum)),
      {file, at::kHeaderChecksum},
      "checksum of the header");
  supported(at::kPageBytes, kSegmentPage, "page size");
  supported(at::kImageLayout, kImageLayoutVersion, "image layout");
  supported(at::kBlockTokens, kBlockTokens, "tokens of a block");
  require_zero(page.subspan(at::kMoreZero, 4), {file, at::kMoreZero});
  require_zero(
      page.subspan(at::kHeaderZero, at::kHeaderChecksum - at::kHeaderZero),
      {file, at::kHeaderZero});
  SegmentHeader header;
  header.identity.writer = load_le<uint64_t>(page, at::kWriter);
  header.identity.number = load_le<uint64_t>(page, at::kNumber);
  constexpr int64_t kMost = int64_t{1} << 60;
  header.file_bytes = require_pages(
      load_le<int64_t>(page, at::kFileBytes),
      3 * kSegmentPage,
      kMost,
      {file, at::kFileBytes},
      "file size");
  header.directory_offset = require_pages(
      load_le<int64_t>(page, at::kDirectoryOffset),
      2 * kSegmentPage,
      header.file_bytes.get() - kSegmentPage,
      {file, at::kDirectoryOffset},
      "directory offset");
  header.layouts = u32(at::kLayouts);
  header.entries = u32(at::kEntries);
  header.checksums = u32(at::kChecksums);
  header.directory_checksum = load_le<uint64_t>(page, at::kDirectoryChecksum);
  return header;
}

class DirectoryParser {
 public:
  DirectoryParser(
      const SegmentHeader& header,
      std::span<const std::byte> bytes,
      std::string_view file)
      : header_(header), bytes_(bytes), file_(file) {}

  SegmentDirectory parse() {
    require_equal(
        static_cast<int64_t>(bytes_.size()),
        (header_.file_bytes - header_.directory_offset).get(),
        place(),
        "size of the directory");
    require_equal(
        checksum(bytes_),
        header_.directory_checksum,
        place(),
        "checksum of the directory");
    for (uint32_t i = 0; i < header_.layouts; ++i) {
      directory_.layouts.push_back(layout());
    }
    Bytes end(kSegmentPage);
    for (uint32_t i = 0; i < header_.entries; ++i) {
      const SegmentEntry entry = this->entry(end);
      end = entry.offset + Bytes(round_up(entry.bytes.get(), kSegmentPage));
      directory_.entries.push_back(entry);
    }
    require_equal(
        end.get(),
        header_.directory_offset.get(),
        place(),
        "end of the last extent");
    require_equal(
        next_checksum_, uint64_t{header_.checksums}, place(), "checksums");
    for (uint32_t i = 0; i < header_.checksums; ++i) {
      directory_.checksums.push_back(load_le<uint64_t>(take(8, "checksum"), 0));
    }
    require_zero(bytes_.subspan(used_), place());
    return std::move(directory_);
  }

 private:
  Place place(size_t further = 0) const {
    return {
        file_,
        header_.directory_offset.get() + static_cast<int64_t>(used_ + further)};
  }

  std::span<const std::byte> take(uint64_t count, const char* field) {
    const size_t left = bytes_.size() - used_;
    if (count > left) {
      complain(
          ErrorCode::kCorrupt,
          place(),
          field,
          std::to_string(count) + " bytes",
          std::to_string(left) + " to the end of the file");
    }
    const auto result = bytes_.subspan(used_, static_cast<size_t>(count));
    used_ += static_cast<size_t>(count);
    return result;
  }

  std::vector<Bytes> layout() {
    const auto head = take(8, "layout");
    const auto count = load_le<uint32_t>(head, 0);
    require_zero(head.subspan(4), place());
    if (count == 0) {
      complain(ErrorCode::kCorrupt, place(), "planes", "1 or more", "0");
    }
    const auto lengths = take(uint64_t{8} * count, "lengths of planes");
    std::vector<Bytes> result;
    int64_t sum = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const auto length = load_le<int64_t>(lengths, size_t{8} * i);
      if (length <= 0 || length > header_.file_bytes.get() - sum) {
        complain(
            ErrorCode::kCorrupt,
            place(),
            "length of a plane",
            "1 to " + std::to_string(header_.file_bytes.get() - sum),
            std::to_string(length));
      }
      sum += length;
      result.emplace_back(length);
    }
    sums_.push_back(sum);
    return result;
  }

  SegmentEntry entry(Bytes begin) {
    const Place here = place();
    const auto bytes = take(kSegmentEntryBytes, "entry");
    const auto field = [&](size_t offset) {
      return Place{file_, here.offset + static_cast<int64_t>(offset)};
    };
    SegmentEntry entry;
    const auto type = load_le<uint32_t>(bytes, at::kType);
    if (type < 1 || type > 3) {
      complain(
          ErrorCode::kCorrupt,
          field(at::kType),
          "type of an extent",
          "1, 2 or 3",
          std::to_string(type));
    }
    entry.type = static_cast<ExtentType>(type);
    entry.slot.group = load_le<int32_t>(bytes, at::kGroup);
    entry.slot.phase = load_le<int32_t>(bytes, at::kPhase);
    entry.layout = load_le<uint32_t>(bytes, at::kLayout);
    require_equal(
        load_le<int64_t>(bytes, at::kOffset),
        begin.get(),
        field(at::kOffset),
        "offset of an extent");
    entry.offset = begin;
    entry.bytes = length_of(bytes, begin, field(at::kBytes));
    entry.key.high = load_le<uint64_t>(bytes, at::kKeyHigh);
    entry.key.low = load_le<uint64_t>(bytes, at::kKeyLow);
    entry.positions = load_le<uint32_t>(bytes, at::kPositions);
    require_image_fields(entry, here);
    require_zero(bytes.subspan(at::kEntryZero), field(at::kEntryZero));
    require_checksums(entry, bytes, here);
    return entry;
  }

  Bytes length_of(
      std::span<const std::byte> bytes,
      Bytes begin,
      const Place& place) const {
    const auto length = load_le<int64_t>(bytes, at::kBytes);
    const int64_t room = (header_.directory_offset - begin).get();
    if (length <= 0 || length > room) {
      complain(
          ErrorCode::kCorrupt,
          place,
          "length of an extent",
          "1 to " + std::to_string(room),
          std::to_string(length));
    }
    return Bytes(length);
  }

  void require_image_fields(const SegmentEntry& entry, const Place& here) {
    const bool image = entry.type == ExtentType::kImage;
    const bool right = image ? entry.slot.group >= 0 && entry.slot.phase >= 0 &&
            entry.positions >= 1 && entry.positions <= kBlockTokens &&
            entry.bytes.get() % kSegmentPage == 0
                             : entry.slot == ImageSlot{} &&
            entry.positions == 0 && entry.key == Key128{};
    if (!right) {
      complain(
          ErrorCode::kCorrupt,
          here,
          "entry",
          image ? "a slot, 1 to 64 positions and whole pages"
                : "no slot, key and positions",
          "other values");
    }
  }

  void require_checksums(
      SegmentEntry& entry,
      std::span<const std::byte> bytes,
      const Place& here) {
    size_t planes = 1;
    if (entry.layout != kNoPlanes) {
      if (entry.layout >= directory_.layouts.size()) {
        complain(
            ErrorCode::kCorrupt,
            here,
            "layout of an extent",
            "less than " + std::to_string(directory_.layouts.size()),
            std::to_string(entry.layout));
      }
      planes = directory_.layouts[entry.layout].size();
      require_equal(
          sums_[entry.layout], entry.bytes.get(), here, "sum of the planes");
    }
    entry.first_checksum = load_le<uint32_t>(bytes, at::kFirstChecksum);
    entry.checksum_count = load_le<uint32_t>(bytes, at::kChecksumCount);
    require_equal(
        uint64_t{entry.first_checksum}, next_checksum_, here, "first checksum");
    require_equal(
        uint64_t{entry.checksum_count},
        static_cast<uint64_t>(planes),
        here,
        "checksums of an extent");
    next_checksum_ += planes;
  }

  const SegmentHeader& header_;
  const std::span<const std::byte> bytes_;
  const std::string_view file_;
  size_t used_ = 0;
  uint64_t next_checksum_ = 0;
  std::vector<int64_t> sums_; // [layout]
  SegmentDirectory directory_;
};

} // namespace

Result<SegmentHeader>
parse_segment_header(std::span<const std::byte> page, std::string_view file) {
  try {
    return header_of(page, file);
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

Result<SegmentDirectory> parse_segment_directory(
    const SegmentHeader& header,
    std::span<const std::byte> bytes,
    std::string_view file) {
  try {
    return DirectoryParser(header, bytes, file).parse();
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

} // namespace holdfast
