// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/conversation_writer.h"

#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/base/checksum.h"
#include "holdfast/base/zstd.h"
#include "holdfast/block/layout.h"
#include "holdfast/tier/paths.h"
#include "holdfast/tier/segment_format.h"

namespace holdfast {

namespace {

// A device wants writes of a mebibyte; smaller pieces are gathered.
constexpr size_t kGathered = size_t{1} << 20;
constexpr int kMostNames = 1000;

void require_path(const Conversation& what) {
  int64_t tokens = 0;
  int64_t last = 0;
  for (const ConversationNode& node : what.nodes) {
    expect(
        tokens % kBlockTokens == 0 && !node.tokens.empty() &&
            std::ssize(node.tokens) <= kBlockTokens,
        "[conversation] expected nodes of 64 tokens before the last one, got "
        "others");
    last = std::ssize(node.tokens);
    tokens += last;
  }
  const int64_t length = what.record.length.get();
  expect(
      length <= tokens && length >= tokens - last + (tokens > 0 ? 1 : 0),
      "[conversation] expected a length within the last node, got another");
}

} // namespace

Result<std::unique_ptr<ConversationWriter>>
ConversationWriter::create(ConversationWriterOptions options) {
  expect(
      options.zstd_level >= 0 && options.zstd_level <= kMostZstdLevel,
      "[conversation] expected a level of zstd from 0 to 19, got another");
  for (int i = 0;; ++i) {
    std::string name = options.path + "." + std::to_string(i) + ".unfinished";
    Result<std::unique_ptr<File>> file = options.files->create(name);
    if (file.ok()) {
      return std::unique_ptr<ConversationWriter>(new ConversationWriter(
          std::move(options), std::move(name), std::move(file).value()));
    }
    // Taken by another writer, or left by one that died.
    if (file.status().code() != ErrorCode::kInvalidArgument ||
        i + 1 == kMostNames) {
      return file.status();
    }
  }
}

ConversationWriter::ConversationWriter(
    ConversationWriterOptions options,
    std::string unfinished,
    std::unique_ptr<File> file)
    : options_(std::move(options)),
      unfinished_(std::move(unfinished)),
      file_(std::move(file)) {}

ConversationWriter::~ConversationWriter() {
  if (file_) {
    file_.reset();
    (void)options_.files->remove(unfinished_).ok();
  }
}

Status ConversationWriter::append(std::span<const std::byte> bytes) {
  gathered_.insert(gathered_.end(), bytes.begin(), bytes.end());
  end_ += Bytes(std::ssize(bytes));
  return gathered_.size() >= kGathered ? flush() : Status();
}

Status ConversationWriter::flush() {
  const Status status = file_->write(flushed_, gathered_);
  flushed_ += Bytes(std::ssize(gathered_));
  gathered_.clear();
  return status;
}

Result<ConversationPiece>
ConversationWriter::add(std::span<const std::byte> bytes) {
  expect(
      !bytes.empty() && Bytes(std::ssize(bytes)) <= kMostPieceBytes,
      "[conversation] expected a piece of 1 byte to 1 GiB, got another size");
  ConversationPiece piece{
      .packed = false,
      .offset = end_,
      .stored = Bytes(std::ssize(bytes)),
      .bytes = Bytes(std::ssize(bytes)),
      .checksum = 0};
  std::vector<std::byte> frame;
  if (options_.zstd_level > 0) {
    frame = zstd_packed(bytes, options_.zstd_level);
    if (frame.size() < bytes.size()) {
      piece.packed = true;
      piece.stored = Bytes(std::ssize(frame));
      bytes = frame;
    }
  }
  piece.checksum = checksum(bytes);
  const Status status = append(bytes);
  return status.ok() ? Result<ConversationPiece>(piece) : status;
}

Status ConversationWriter::add_body(std::string_view body) {
  expect(
      content_.nodes.empty() && content_.record.body.bytes == Bytes(),
      "[conversation] expected one body before all nodes, got another order");
  if (body.empty()) {
    return {};
  }
  const auto piece = add(std::as_bytes(std::span(body)));
  if (piece.ok()) {
    content_.record.body = piece.value();
  }
  return piece.status();
}

void ConversationWriter::add_node(ConversationNode node) {
  node.images.clear();
  content_.nodes.push_back(std::move(node));
}

Status ConversationWriter::add_image(
    ImageSlot slot,
    std::span<const std::byte> image) {
  expect(
      !content_.nodes.empty() && slot.group >= 0 && slot.phase >= 0 &&
          image.size() % kSegmentPage == 0,
      "[conversation] expected an image of whole pages behind its node");
  auto& images = content_.nodes.back().images;
  expect(
      images.empty() || images.back().slot < slot,
      "[conversation] expected images in the order of their slots");
  const auto piece = add(image);
  if (piece.ok()) {
    images.push_back({slot, piece.value()});
  }
  return piece.status();
}

Result<Bytes> ConversationWriter::finish(
    const ScopeText& scope,
    const ConversationRecord& record) {
  const ConversationPiece body = content_.record.body;
  content_.scope = scope;
  content_.record = record;
  content_.record.body = body;
  require_path(content_);
  const auto directory = encode_conversation_directory(content_);
  if (Bytes(std::ssize(directory)) > kMostPieceBytes) {
    return Status(
        ErrorCode::kUnsupported,
        options_.path + ": expected a directory of at most 1 GiB, got " +
            std::to_string(directory.size()) + " bytes");
  }
  const Status status = publish(directory);
  return status.ok() ? Result<Bytes>(end_) : status;
}

Status ConversationWriter::publish(const std::vector<std::byte>& directory) {
  ConversationHeader header;
  header.directory_offset = end_;
  header.nodes = static_cast<uint32_t>(content_.nodes.size());
  header.images = static_cast<uint32_t>(content_.images());
  header.directory_checksum = checksum(directory);
  Status status = append(directory);
  if (status.ok() && !gathered_.empty()) {
    status = flush();
  }
  header.file_bytes = end_;
  if (status.ok()) {
    status = file_->write(Bytes(0), encode_conversation_header(header));
  }
  if (status.ok()) {
    status = file_->sync();
  }
  if (status.ok()) {
    status = options_.files->rename(unfinished_, options_.path);
  }
  if (!status.ok()) {
    return status;
  }
  file_.reset();
  return options_.files->sync_folder(folder_of_path(options_.path));
}

} // namespace holdfast
