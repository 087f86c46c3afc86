// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Parsers of the segment format. Inside, the first fault is thrown as an Error;
// the public functions turn it into a Status.

#include <algorithm>
#include <string>

#include "holdfast/base/bits.h"
#include "holdfast/base/checksum.h"
#include "holdfast/base/field_reader.h"
#include "holdfast/block/layout.h"
#include "holdfast/tier/little_endian.h"
#include "holdfast/tier/segment_fields.h"
#include "holdfast/tier/segment_format.h"

namespace holdfast {

namespace {

namespace at = segment_fields;

/// A count of bytes that is within [low, high] and a whole number of pages.
Bytes pages(FieldReader& in, const char* field, int64_t low, int64_t high) {
  const FieldPlace place = in.place(field);
  const auto value = in.number<int64_t>(field);
  if (value < low || value > high || value % kSegmentPage != 0) {
    in.refuse(
        place,
        "whole pages in [" + std::to_string(low) + ", " + std::to_string(high) +
            "]",
        std::to_string(value));
  }
  return Bytes(value);
}

SegmentHeader
header_of(std::span<const std::byte> page, const std::string& where) {
  FieldReader in(page.first(std::min(page.size(), at::kHeaderChecksum)), where);
  if (page.size() < static_cast<size_t>(kSegmentPage)) {
    in.refuse({"header", 0}, "4096 bytes", std::to_string(page.size()));
  }
  if (in.text(kSegmentMagic.size(), "magic") != kSegmentMagic) {
    in.refuse({"magic", 0}, "\"holdfast\"", "other bytes");
  }
  in.known<uint32_t>(kSegmentVersion, "version");
  in.equal(
      {"checksum of the header", at::kHeaderChecksum},
      load_le<uint64_t>(page, at::kHeaderChecksum),
      checksum(page.first(at::kHeaderChecksum)));
  in.known<uint32_t>(kSegmentPage, "page size");
  in.known<uint32_t>(kImageLayoutVersion, "image layout");
  in.known<uint32_t>(kBlockTokens, "tokens of a block");
  SegmentHeader header;
  header.identity.writer = in.number<uint64_t>("writer");
  header.identity.number = in.number<uint64_t>("number");
  constexpr int64_t kMost = int64_t{1} << 60;
  header.file_bytes = pages(in, "file size", 3 * kSegmentPage, kMost);
  header.directory_offset = pages(
      in,
      "directory offset",
      2 * kSegmentPage,
      header.file_bytes.get() - kSegmentPage);
  header.layouts = in.number<uint32_t>("layouts");
  header.entries = in.number<uint32_t>("entries");
  header.checksums = in.number<uint32_t>("checksums");
  in.zero(sizeof(uint32_t), "reserved byte");
  header.directory_checksum = in.number<uint64_t>("checksum of the directory");
  in.zero(in.left(), "reserved byte");
  return header;
}

class DirectoryParser {
 public:
  DirectoryParser(
      const SegmentHeader& header,
      std::span<const std::byte> bytes,
      const std::string& where)
      : header_(header),
        bytes_(bytes),
        in_(bytes, where, header.directory_offset.get()) {}

  SegmentDirectory parse() {
    in_.equal<int64_t>(
        in_.place("size of the directory"),
        std::ssize(bytes_),
        (header_.file_bytes - header_.directory_offset).get());
    in_.equal(
        in_.place("checksum of the directory"),
        checksum(bytes_),
        header_.directory_checksum);
    for (uint32_t i = 0; i < header_.layouts; ++i) {
      directory_.layouts.push_back(layout());
    }
    Bytes end(kSegmentPage);
    for (uint32_t i = 0; i < header_.entries; ++i) {
      const SegmentEntry entry = this->entry(end);
      end = entry.offset + Bytes(round_up(entry.bytes.get(), kSegmentPage));
      directory_.entries.push_back(entry);
    }
    in_.equal(
        in_.place("end of the last extent"),
        end.get(),
        header_.directory_offset.get());
    in_.equal(
        in_.place("checksums"), next_checksum_, uint64_t{header_.checksums});
    directory_.checksums =
        in_.array<uint64_t>(header_.checksums, "checksums of planes");
    in_.zero(in_.left(), "reserved byte");
    return std::move(directory_);
  }

 private:
  std::vector<Bytes> layout() {
    const FieldPlace planes = in_.place("planes of a layout");
    const auto count = in_.number<uint32_t>(planes.field);
    in_.zero(sizeof(uint32_t), "reserved byte");
    if (count == 0) {
      in_.refuse(planes, "1 or more", "0");
    }
    std::vector<Bytes> result;
    int64_t sum = 0;
    for (const auto length : in_.array<int64_t>(count, "lengths of planes")) {
      in_.within(
          in_.place("length of a plane"),
          length,
          1,
          header_.file_bytes.get() - sum);
      sum += length;
      result.emplace_back(length);
    }
    sums_.push_back(sum);
    return result;
  }

  /// The extents lie in the order of their entries, without gaps.
  SegmentEntry entry(Bytes begin) {
    const FieldPlace here = in_.place("entry");
    SegmentEntry entry;
    entry.type = static_cast<ExtentType>(
        in_.number<uint32_t>("type of an extent", 1, 3));
    entry.slot.group = in_.number<int32_t>("layer group");
    entry.slot.phase = in_.number<int32_t>("phase");
    entry.layout = in_.number<uint32_t>("layout of an extent");
    entry.offset = Bytes(
        in_.number<int64_t>("offset of an extent", begin.get(), begin.get()));
    entry.bytes = Bytes(in_.number<int64_t>(
        "length of an extent", 1, (header_.directory_offset - begin).get()));
    entry.key.high = in_.number<uint64_t>("key");
    entry.key.low = in_.number<uint64_t>("key");
    entry.first_checksum = in_.number<uint32_t>("first checksum");
    entry.checksum_count = in_.number<uint32_t>("checksums of an extent");
    entry.positions = in_.number<uint32_t>("positions");
    in_.zero(sizeof(uint32_t), "reserved byte");
    require_image_fields(entry, here);
    require_checksums(entry, here);
    return entry;
  }

  void require_image_fields(const SegmentEntry& entry, const FieldPlace& here)
      const {
    const bool image = entry.type == ExtentType::kImage;
    const bool right = image ? entry.slot.group >= 0 && entry.slot.phase >= 0 &&
            entry.positions >= 1 && entry.positions <= kBlockTokens &&
            entry.bytes.get() % kSegmentPage == 0
                             : entry.slot == ImageSlot{} &&
            entry.positions == 0 && entry.key == Key128{};
    if (!right) {
      in_.refuse(
          here,
          image ? "a slot, 1 to 64 positions and whole pages"
                : "no slot, key and positions",
          "other values");
    }
  }

  void require_checksums(const SegmentEntry& entry, const FieldPlace& here) {
    const auto of = [&](const char* field) {
      return FieldPlace{field, here.offset};
    };
    size_t planes = 1;
    if (entry.layout != kNoPlanes) {
      if (entry.layout >= directory_.layouts.size()) {
        in_.refuse(
            of("layout of an extent"),
            "less than " + std::to_string(directory_.layouts.size()),
            std::to_string(entry.layout));
      }
      planes = directory_.layouts[entry.layout].size();
      in_.equal(
          of("sum of the planes"), sums_[entry.layout], entry.bytes.get());
    }
    in_.equal(
        of("first checksum"), uint64_t{entry.first_checksum}, next_checksum_);
    in_.equal<uint64_t>(
        of("checksums of an extent"), entry.checksum_count, planes);
    next_checksum_ += planes;
  }

  const SegmentHeader& header_;
  const std::span<const std::byte> bytes_;
  FieldReader in_;
  uint64_t next_checksum_ = 0;
  std::vector<int64_t> sums_; // [layout]
  SegmentDirectory directory_;
};

} // namespace

Result<SegmentHeader>
parse_segment_header(std::span<const std::byte> page, std::string_view file) {
  try {
    return header_of(page, std::string(file) + ": ");
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

Result<SegmentDirectory> parse_segment_directory(
    const SegmentHeader& header,
    std::span<const std::byte> bytes,
    std::string_view file) {
  const std::string where = std::string(file) + ": ";
  try {
    return DirectoryParser(header, bytes, where).parse();
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

} // namespace holdfast
