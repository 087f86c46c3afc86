// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/conversation_reader.h"

#include <utility>

#include "holdfast/base/checksum.h"
#include "holdfast/base/zstd.h"

namespace holdfast {

Result<std::unique_ptr<ConversationReader>>
ConversationReader::open(FileSystem& files, const std::string& path) {
  Result<std::unique_ptr<File>> file =
      files.open(path, FileSystem::Access::kRead);
  if (!file.ok()) {
    return file.status();
  }
  std::unique_ptr<ConversationReader> reader(new ConversationReader);
  reader->file_ = std::move(file).value();
  Status status = reader->read_content();
  return status.ok()
      ? Result<std::unique_ptr<ConversationReader>>(std::move(reader))
      : status;
}

Status ConversationReader::read_content() {
  const Result<FileFacts> facts = file_->facts();
  if (!facts.ok()) {
    return facts.status();
  }
  file_bytes_ = facts.value().size;
  ConversationHead head{};
  if (file_bytes_ < Bytes(std::ssize(head))) {
    return Status(
        ErrorCode::kCorrupt,
        file_->path() + ": expected a conversation of 64 bytes or more, got " +
            std::to_string(file_bytes_.get()));
  }
  if (Status status = file_->read(Bytes(0), head); !status.ok()) {
    return status;
  }
  const auto header = parse_conversation_header(head, file_->path());
  if (!header.ok()) {
    return header.status();
  }
  if (header.value().file_bytes != file_bytes_) {
    return Status(
        ErrorCode::kCorrupt,
        file_->path() + ": expected " +
            std::to_string(header.value().file_bytes.get()) +
            " bytes by its header, got " + std::to_string(file_bytes_.get()));
  }
  const Bytes offset = header.value().directory_offset;
  std::vector<std::byte> bytes(
      static_cast<size_t>((file_bytes_ - offset).get()));
  if (Status status = file_->read(offset, bytes); !status.ok()) {
    return status;
  }
  auto content =
      parse_conversation_directory(header.value(), bytes, file_->path());
  if (!content.ok()) {
    return content.status();
  }
  content_ = std::move(content).value();
  digest_ = Sha256().add(head).add(bytes).finish();
  return {};
}

Result<std::vector<std::byte>>
ConversationReader::read(const ConversationPiece& piece) const {
  std::vector<std::byte> stored(static_cast<size_t>(piece.stored.get()));
  if (Status status = file_->read(piece.offset, stored); !status.ok()) {
    return status;
  }
  if (checksum(stored) != piece.checksum) {
    return Status(
        ErrorCode::kCorrupt,
        file_->path() + ": " + std::to_string(piece.stored.get()) +
            " bytes at offset " + std::to_string(piece.offset.get()) +
            ": expected those of their checksum, got others");
  }
  if (!piece.packed) {
    return stored;
  }
  std::vector<std::byte> bytes(static_cast<size_t>(piece.bytes.get()));
  if (Status status = zstd_unpack(stored, bytes); !status.ok()) {
    return Status(
        status.code(),
        file_->path() + ": at offset " + std::to_string(piece.offset.get()) +
            ": " + status.text());
  }
  return bytes;
}

Result<std::string> ConversationReader::body() const {
  if (content_.record.body.bytes == Bytes()) {
    return std::string();
  }
  const auto bytes = read(content_.record.body);
  if (!bytes.ok()) {
    return bytes.status();
  }
  return std::string(
      reinterpret_cast<const char*>(bytes.value().data()),
      bytes.value().size());
}

Status ConversationReader::verify(const Progress& progress) const {
  if (content_.record.body.bytes > Bytes()) {
    if (const auto bytes = read(content_.record.body); !bytes.ok()) {
      return bytes.status();
    }
  }
  for (const ConversationNode& node : content_.nodes) {
    for (const ConversationImage& image : node.images) {
      if (const auto bytes = read(image.piece); !bytes.ok()) {
        return bytes.status();
      }
      if (progress) {
        progress(image.piece.offset + image.piece.stored, file_bytes_);
      }
    }
  }
  return {};
}

} // namespace holdfast
