// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Parsers of the conversation format. Inside, the first fault is thrown as an
// Error; the public functions turn it into a Status.

#include <algorithm>
#include <string>
#include <utility>

#include "holdfast/base/checksum.h"
#include "holdfast/base/field_reader.h"
#include "holdfast/block/layout.h"
#include "holdfast/tier/conversation_fields.h"
#include "holdfast/tier/conversation_format.h"
#include "holdfast/tier/little_endian.h"
#include "holdfast/tier/segment_format.h"

namespace holdfast {

namespace {

namespace at = conversation_fields;

ConversationHeader
header_of(std::span<const std::byte> head, const std::string& where) {
  FieldReader in(head, where);
  in.equal<int64_t>(
      in.place("size of the header"),
      std::ssize(head),
      kConversationHeaderBytes);
  const FieldPlace magic = in.place("magic");
  if (in.text(kConversationMagic.size(), magic.field) != kConversationMagic) {
    in.refuse(magic, "\"holdconv\"", "other bytes");
  }
  in.known<uint32_t>(kConversationVersion, "version");
  in.equal(
      {"checksum of the header", at::kHeaderChecksum},
      load_le<uint64_t>(head, at::kHeaderChecksum),
      checksum(head.first(at::kHeaderChecksum)));
  in.known<uint32_t>(kImageLayoutVersion, "image layout");
  in.known<uint32_t>(kBlockTokens, "tokens of a block");
  in.zero(sizeof(uint32_t), "reserved bytes");
  ConversationHeader header;
  constexpr int64_t kMost = int64_t{1} << 60;
  header.file_bytes =
      Bytes(in.number<int64_t>("file size", kConversationHeaderBytes, kMost));
  header.directory_offset = Bytes(in.number<int64_t>(
      "directory offset",
      std::max(
          kConversationHeaderBytes,
          (header.file_bytes - kMostPieceBytes).get()),
      header.file_bytes.get()));
  header.nodes = in.number<uint32_t>("nodes");
  header.images = in.number<uint32_t>("images");
  header.directory_checksum = in.number<uint64_t>("checksum of the directory");
  return header;
}

class DirectoryParser {
 public:
  DirectoryParser(
      const ConversationHeader& header,
      std::span<const std::byte> bytes,
      const std::string& where)
      : header_(header),
        bytes_(bytes),
        in_(bytes, where, header.directory_offset.get()) {}

  Conversation parse() {
    in_.equal<int64_t>(
        in_.place("size of the directory"),
        std::ssize(bytes_),
        (header_.file_bytes - header_.directory_offset).get());
    in_.equal(
        in_.place("checksum of the directory"),
        checksum(bytes_),
        header_.directory_checksum);
    Conversation result;
    result.scope.text = text("scope");
    result.record = record();
    int64_t tokens = 0;
    for (uint32_t i = 0; i < header_.nodes; ++i) {
      if (i > 0) {
        in_.equal<int64_t>(
            in_.place("tokens of an inner node"),
            std::ssize(result.nodes.back().tokens),
            kBlockTokens);
      }
      result.nodes.push_back(node());
      tokens += std::ssize(result.nodes.back().tokens);
    }
    in_.equal(in_.place("images"), uint64_t{images_}, uint64_t{header_.images});
    in_.equal(
        in_.place("end of the data"),
        data_end_.get(),
        header_.directory_offset.get());
    in_.end("bytes behind the last node");
    require_length(result, tokens);
    return result;
  }

 private:
  std::string text(const char* field) {
    return std::string(in_.text(in_.number<uint32_t>(field), field));
  }

  ConversationRecord record() {
    ConversationRecord record;
    record.space = text("space of the record");
    record.name = text("name of the record");
    record.version = in_.number<uint64_t>(
        "version of the record", 0, static_cast<uint64_t>(INT64_MAX));
    length_at_ = in_.place("length of the record");
    record.length = Position(in_.number<int64_t>("length of the record"));
    record.body = piece("body of the record", 0);
    return record;
  }

  /// The pieces of the data follow each other without gaps.
  ConversationPiece piece(const char* field, int64_t least) {
    ConversationPiece piece;
    piece.packed = in_.number<uint32_t>(field, 0, 1) == 1;
    in_.zero(sizeof(uint32_t), field);
    piece.offset = data_end_;
    const int64_t room = (header_.directory_offset - data_end_).get();
    piece.stored = Bytes(in_.number<int64_t>(field, least > 0 ? 1 : 0, room));
    const int64_t stored = piece.stored.get();
    const int64_t most =
        std::min(kMostPieceBytes.get(), kMostPacked * std::min(stored, room));
    piece.bytes = Bytes(
        piece.packed ? in_.number<int64_t>(field, least, most)
                     : in_.number<int64_t>(field, stored, stored));
    if (piece.bytes > kMostPieceBytes ||
        (stored > 0) != (piece.bytes.get() > 0)) {
      in_.refuse(
          in_.place(field),
          "at most 1 GiB, and some where bytes are stored",
          std::to_string(piece.bytes.get()) + " in " + std::to_string(stored));
    }
    piece.checksum = in_.number<uint64_t>(field);
    data_end_ += piece.stored;
    return piece;
  }

  ConversationNode node() {
    ConversationNode node;
    const auto tokens =
        in_.number<uint32_t>("tokens of a node", 1, uint32_t{kBlockTokens});
    const FieldPlace counted = in_.place("images of a node");
    const auto images = in_.number<uint32_t>(counted.field);
    if (images > header_.images - images_) {
      in_.refuse(
          counted,
          "at most " + std::to_string(header_.images - images_),
          std::to_string(images));
    }
    node.cost = in_.number<int64_t>("cost of a node", 0, INT64_MAX);
    node.tokens = in_.array<int32_t>(tokens, "tokens of a node");
    node.marks = text("marks of a node");
    for (uint32_t i = 0; i < images; ++i) {
      node.images.push_back(image(i > 0 ? &node.images.back() : nullptr));
    }
    images_ += images;
    return node;
  }

  ConversationImage image(const ConversationImage* before) {
    ConversationImage image;
    const FieldPlace slot = in_.place("slot of an image");
    image.slot.group = in_.number<int32_t>("layer group", 0, INT32_MAX);
    image.slot.phase = in_.number<int32_t>("phase", 0, INT32_MAX);
    if (before && image.slot <= before->slot) {
      in_.refuse(slot, "rising slots", "one below the image before");
    }
    const FieldPlace here = in_.place("image");
    image.piece = piece("image", kSegmentPage);
    if (image.piece.bytes.get() % kSegmentPage != 0) {
      in_.refuse(here, "whole pages", std::to_string(image.piece.bytes.get()));
    }
    return image;
  }

  void require_length(const Conversation& what, int64_t tokens) const {
    const int64_t last =
        what.nodes.empty() ? 0 : std::ssize(what.nodes.back().tokens);
    in_.within(
        length_at_,
        what.record.length.get(),
        tokens - last + (tokens > 0 ? 1 : 0),
        tokens);
  }

  const ConversationHeader& header_;
  const std::span<const std::byte> bytes_;
  FieldReader in_;
  uint32_t images_ = 0;
  Bytes data_end_{kConversationHeaderBytes};
  FieldPlace length_at_;
};

} // namespace

Result<ConversationHeader> parse_conversation_header(
    std::span<const std::byte> head,
    std::string_view file) {
  try {
    return header_of(head, std::string(file) + ": ");
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

Result<Conversation> parse_conversation_directory(
    const ConversationHeader& header,
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
