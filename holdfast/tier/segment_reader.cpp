// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/segment_reader.h"

#include <string>
#include <utility>
#include <vector>

namespace holdfast {

namespace {

struct HeaderPage {
  SegmentPage page;
  SegmentHeader header;
};

Result<HeaderPage> read_header_page(const File& file) {
  Result<FileFacts> facts = file.facts();
  if (!facts.ok()) {
    return facts.status();
  }
  HeaderPage result{};
  const Bytes size = facts.value().size;
  if (size < Bytes(kSegmentPage)) {
    return Status(
        ErrorCode::kCorrupt,
        file.path() + ": expected a segment of 4096 bytes or more, got " +
            std::to_string(size.get()));
  }
  if (Status status = file.read(Bytes(0), result.page); !status.ok()) {
    return status;
  }
  Result<SegmentHeader> header = parse_segment_header(result.page, file.path());
  if (!header.ok()) {
    return header.status();
  }
  result.header = header.value();
  if (result.header.file_bytes != size) {
    return Status(
        ErrorCode::kCorrupt,
        file.path() + ": expected " +
            std::to_string(result.header.file_bytes.get()) +
            " bytes by its header, got " + std::to_string(size.get()));
  }
  return result;
}

} // namespace

Result<SegmentHeader> read_segment_header(const File& file) {
  Result<HeaderPage> page = read_header_page(file);
  if (!page.ok()) {
    return page.status();
  }
  return page.value().header;
}

Result<SegmentContent> read_segment(const File& file) {
  Result<HeaderPage> page = read_header_page(file);
  if (!page.ok()) {
    return page.status();
  }
  const SegmentHeader& header = page.value().header;
  std::vector<std::byte> bytes(
      static_cast<size_t>((header.file_bytes - header.directory_offset).get()));
  if (Status status = file.read(header.directory_offset, bytes); !status.ok()) {
    return status;
  }
  Result<SegmentDirectory> directory =
      parse_segment_directory(header, bytes, file.path());
  if (!directory.ok()) {
    return directory.status();
  }
  return SegmentContent{
      header,
      segment_header_checksum(page.value().page),
      std::move(directory).value()};
}

} // namespace holdfast
