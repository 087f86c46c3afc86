// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Parsers of the conversation format. Inside, the first fault is thrown as an
// Error; the public functions turn it into a Status.

#include <algorithm>
#include <string>
#include <utility>

#include "holdfast/base/checksum.h"
#include "holdfast/block/layout.h"
#include "holdfast/tier/conversation_fields.h"
#include "holdfast/tier/conversation_format.h"
#include "holdfast/tier/little_endian.h"
#include "holdfast/tier/segment_format.h"

namespace holdfast {

namespace {

namespace at = conversation_fields;

/// A field and where it stands, for the text of a complaint.
struct Place {
  std::string_view file;
  int64_t offset = 0;
  const char* field = "";
};

[[noreturn]] void complain(
    const Place& place,
    const std::string& expected,
    const std::string& got,
    ErrorCode code = ErrorCode::kCorrupt) {
  throw Error(
      code,
      std::string(place.file) + ": " + place.field + " at offset " +
          std::to_string(place.offset) + ": expected " + expected + ", got " +
          got);
}

template <class T>
void require_equal(
    const Place& place,
    T got,
    std::type_identity_t<T> expected,
    ErrorCode code = ErrorCode::kCorrupt) {
  if (got != expected) {
    complain(place, std::to_string(expected), std::to_string(got), code);
  }
}

template <class T>
T require_within(
    const Place& place,
    T value,
    std::type_identity_t<T> low,
    std::type_identity_t<T> high) {
  if (value < low || value > high) {
    complain(
        place,
        std::to_string(low) + " to " + std::to_string(high),
        std::to_string(value));
  }
  return value;
}

ConversationHeader
header_of(std::span<const std::byte> head, std::string_view file) {
  const auto place = [&](size_t offset, const char* field) {
    return Place{file, static_cast<int64_t>(offset), field};
  };
  require_equal<int64_t>(
      place(0, "size of the header"),
      std::ssize(head),
      kConversationHeaderBytes);
  if (std::memcmp(
          head.data(), kConversationMagic.data(), kConversationMagic.size())) {
    complain(place(0, "magic"), "\"holdconv\"", "other bytes");
  }
  const auto known = [&](size_t offset, uint32_t expected, const char* field) {
    require_equal(
        place(offset, field),
        load_le<uint32_t>(head, offset),
        expected,
        ErrorCode::kUnsupported);
  };
  known(at::kVersion, kConversationVersion, "version");
  require_equal(
      place(at::kHeaderChecksum, "checksum of the header"),
      load_le<uint64_t>(head, at::kHeaderChecksum),
      checksum(head.first(at::kHeaderChecksum)));
  known(at::kImageLayout, kImageLayoutVersion, "image layout");
  known(at::kBlockTokens, kBlockTokens, "tokens of a block");
  require_equal(
      place(at::kZero, "reserved bytes"),
      load_le<uint32_t>(head, at::kZero),
      0U);
  ConversationHeader header;
  constexpr int64_t kMost = int64_t{1} << 60;
  header.file_bytes = Bytes(require_within(
      place(at::kFileBytes, "file size"),
      load_le<int64_t>(head, at::kFileBytes),
      kConversationHeaderBytes,
      kMost));
  header.directory_offset = Bytes(require_within(
      place(at::kDirectoryOffset, "directory offset"),
      load_le<int64_t>(head, at::kDirectoryOffset),
      std::max(
          kConversationHeaderBytes,
          (header.file_bytes - kMostPieceBytes).get()),
      header.file_bytes.get()));
  header.nodes = load_le<uint32_t>(head, at::kNodes);
  header.images = load_le<uint32_t>(head, at::kImages);
  header.directory_checksum = load_le<uint64_t>(head, at::kDirectoryChecksum);
  return header;
}

class DirectoryParser {
 public:
  DirectoryParser(
      const ConversationHeader& header,
      std::span<const std::byte> bytes,
      std::string_view file)
      : header_(header), bytes_(bytes), file_(file) {}

  Conversation parse() {
    require_equal<int64_t>(
        place("size of the directory"),
        std::ssize(bytes_),
        (header_.file_bytes - header_.directory_offset).get());
    require_equal(
        place("checksum of the directory"),
        checksum(bytes_),
        header_.directory_checksum);
    Conversation result;
    result.scope.text = text("scope");
    result.record = record();
    int64_t tokens = 0;
    for (uint32_t i = 0; i < header_.nodes; ++i) {
      if (i > 0) {
        require_equal<int64_t>(
            place("tokens of an inner node"),
            std::ssize(result.nodes.back().tokens),
            kBlockTokens);
      }
      result.nodes.push_back(node());
      tokens += std::ssize(result.nodes.back().tokens);
    }
    require_equal(place("images"), uint64_t{images_}, uint64_t{header_.images});
    require_equal(
        place("end of the data"),
        data_end_.get(),
        header_.directory_offset.get());
    require_equal<uint64_t>(
        place("bytes behind the last node"), bytes_.size() - used_, 0U);
    require_length(result, tokens);
    return result;
  }

 private:
  Place place(const char* field) const {
    return {
        file_,
        header_.directory_offset.get() + static_cast<int64_t>(used_),
        field};
  }

  std::span<const std::byte> take(uint64_t count, const char* field) {
    const size_t left = bytes_.size() - used_;
    if (count > left) {
      complain(
          place(field),
          std::to_string(count) + " bytes",
          std::to_string(left) + " to the end of the file");
    }
    const auto result = bytes_.subspan(used_, static_cast<size_t>(count));
    used_ += static_cast<size_t>(count);
    return result;
  }
  template <class T>
  T number(const char* field) {
    return load_le<T>(take(sizeof(T), field), 0);
  }
  template <class T>
  T number(
      const char* field,
      std::type_identity_t<T> low,
      std::type_identity_t<T> high) {
    const Place here = place(field);
    return require_within(here, number<T>(field), low, high);
  }

  std::string text(const char* field) {
    const auto size = number<uint32_t>(field);
    const auto bytes = take(size, field);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  ConversationRecord record() {
    ConversationRecord record;
    record.space = text("space of the record");
    record.name = text("name of the record");
    record.version = number<uint64_t>(
        "version of the record", 0, static_cast<uint64_t>(INT64_MAX));
    length_at_ = place("length of the record");
    record.length = Position(number<int64_t>("length of the record"));
    record.body = piece("body of the record", 0);
    return record;
  }

  /// The pieces of the data follow each other without gaps.
  ConversationPiece piece(const char* field, int64_t least) {
    ConversationPiece piece;
    piece.packed = number<uint32_t>(field, 0, 1) == 1;
    (void)number<uint32_t>(field, 0, 0);
    piece.offset = data_end_;
    const int64_t room = (header_.directory_offset - data_end_).get();
    piece.stored = Bytes(number<int64_t>(field, least > 0 ? 1 : 0, room));
    const int64_t stored = piece.stored.get();
    const int64_t most =
        std::min(kMostPieceBytes.get(), kMostPacked * std::min(stored, room));
    piece.bytes = Bytes(
        piece.packed ? number<int64_t>(field, least, most)
                     : number<int64_t>(field, stored, stored));
    if (piece.bytes > kMostPieceBytes ||
        (stored > 0) != (piece.bytes.get() > 0)) {
      complain(
          place(field),
          "at most 1 GiB, and some where bytes are stored",
          std::to_string(piece.bytes.get()) + " in " + std::to_string(stored));
    }
    piece.checksum = number<uint64_t>(field);
    data_end_ += piece.stored;
    return piece;
  }

  ConversationNode node() {
    ConversationNode node;
    const auto tokens =
        number<uint32_t>("tokens of a node", 1, uint32_t{kBlockTokens});
    const Place counted = place("images of a node");
    const auto images = number<uint32_t>(counted.field);
    if (images > header_.images - images_) {
      complain(
          counted,
          "at most " + std::to_string(header_.images - images_),
          std::to_string(images));
    }
    node.cost = number<int64_t>("cost of a node", 0, INT64_MAX);
    const auto bytes = take(uint64_t{4} * tokens, "tokens of a node");
    for (uint32_t i = 0; i < tokens; ++i) {
      node.tokens.push_back(load_le<int32_t>(bytes, size_t{4} * i));
    }
    node.marks = text("marks of a node");
    for (uint32_t i = 0; i < images; ++i) {
      node.images.push_back(image(i > 0 ? &node.images.back() : nullptr));
    }
    images_ += images;
    return node;
  }

  ConversationImage image(const ConversationImage* before) {
    ConversationImage image;
    const Place slot = place("slot of an image");
    image.slot.group = number<int32_t>("layer group", 0, INT32_MAX);
    image.slot.phase = number<int32_t>("phase", 0, INT32_MAX);
    if (before && image.slot <= before->slot) {
      complain(slot, "rising slots", "one below the image before");
    }
    const Place here = place("image");
    image.piece = piece("image", kSegmentPage);
    if (image.piece.bytes.get() % kSegmentPage != 0) {
      complain(here, "whole pages", std::to_string(image.piece.bytes.get()));
    }
    return image;
  }

  void require_length(const Conversation& what, int64_t tokens) const {
    const int64_t last =
        what.nodes.empty() ? 0 : std::ssize(what.nodes.back().tokens);
    require_within(
        length_at_,
        what.record.length.get(),
        tokens - last + (tokens > 0 ? 1 : 0),
        tokens);
  }

  const ConversationHeader& header_;
  const std::span<const std::byte> bytes_;
  const std::string_view file_;
  size_t used_ = 0;
  uint32_t images_ = 0;
  Bytes data_end_{kConversationHeaderBytes};
  Place length_at_;
};

} // namespace

Result<ConversationHeader> parse_conversation_header(
    std::span<const std::byte> head,
    std::string_view file) {
  try {
    return header_of(head, file);
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

Result<Conversation> parse_conversation_directory(
    const ConversationHeader& header,
    std::span<const std::byte> bytes,
    std::string_view file) {
  try {
    return DirectoryParser(header, bytes, file).parse();
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

} // namespace holdfast
