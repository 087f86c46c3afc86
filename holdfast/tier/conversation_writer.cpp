// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/conversation_writer.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <string_view>
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
constexpr size_t kIdDigits = 16;
constexpr std::string_view kUnfinishedEnd = ".unfinished";

std::string drawn_digits() {
  std::random_device device;
  char digits[kIdDigits + 1];
  std::snprintf(digits, sizeof(digits), "%08x%08x", device(), device());
  return digits;
}

/// PATH.0123456789abcdef.unfinished
bool is_unfinished(std::string_view name, std::string_view of) {
  if (!name.starts_with(of) || !name.ends_with(kUnfinishedEnd) ||
      name.size() != of.size() + 1 + kIdDigits + kUnfinishedEnd.size() ||
      name[of.size()] != '.') {
    return false;
  }
  const std::string_view digits = name.substr(of.size() + 1, kIdDigits);
  return std::ranges::all_of(digits, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

/// Removes what writers of the path left who died. What fails to go is for the
/// next one. No name is drawn twice: one that its writer gave up or renamed
/// meanwhile is nobody's.
void remove_left(FileSystem& files, const std::string& path) {
  const auto names = files.list(folder_of_path(path));
  if (!names.ok()) {
    return;
  }
  const size_t begin = path.rfind('/') + 1; // of its name; 0: all of it
  const std::string of = path.substr(begin);
  for (const std::string& name : names.value()) {
    if (!is_unfinished(name, of)) {
      continue;
    }
    const std::string left = path.substr(0, begin) + name;
    if (const auto lock = files.lock(left, FileSystem::Wait::kNo); lock.ok()) {
      (void)files.remove(left).ok();
    }
  }
}

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
  remove_left(*options.files, options.path);
  Result<Unfinished> made = create_unfinished(*options.files, options.path);
  if (!made.ok()) {
    return made.status();
  }
  return std::unique_ptr<ConversationWriter>(
      new ConversationWriter(std::move(options), std::move(made).value()));
}

// Another writer may take the file for one whose owner died between its making
// and its locking: then another name is drawn.
Result<ConversationWriter::Unfinished> ConversationWriter::create_unfinished(
    FileSystem& files,
    const std::string& path) {
  for (int tries = 100;; --tries) {
    Unfinished made;
    made.path = path + "." + drawn_digits() + std::string(kUnfinishedEnd);
    Result<std::unique_ptr<File>> file = files.create(made.path);
    if (!file.ok()) {
      return file.status();
    }
    made.file = std::move(file).value();
    auto lock = files.lock(made.path, FileSystem::Wait::kNo);
    const Result<FileFacts> own = made.file->facts();
    const Result<FileFacts> named = files.facts(made.path);
    if (lock.ok() && own.ok() && named.ok() &&
        own.value().inode == named.value().inode) {
      made.lock = std::move(lock).value();
      return made;
    }
    // Its own, or an empty one that locking made anew.
    (void)files.remove(made.path).ok();
    const bool taken = lock.ok()
        ? own.ok() && named.ok()
        : lock.status().code() == ErrorCode::kOutOfBudget;
    if (!taken || tries == 1) {
      return !lock.ok() ? lock.status()
          : !own.ok()   ? own.status()
          : !named.ok() ? named.status()
                        : Status(ErrorCode::kIo, made.path + ": was taken");
    }
  }
}

ConversationWriter::ConversationWriter(
    ConversationWriterOptions options,
    Unfinished unfinished)
    : options_(std::move(options)), unfinished_(std::move(unfinished)) {}

ConversationWriter::~ConversationWriter() {
  if (unfinished_.file) {
    unfinished_.file.reset();
    (void)options_.files->remove(unfinished_.path).ok();
  }
}

Status ConversationWriter::append(std::span<const std::byte> bytes) {
  gathered_.insert(gathered_.end(), bytes.begin(), bytes.end());
  end_ += Bytes(std::ssize(bytes));
  return gathered_.size() >= kGathered ? flush() : Status();
}

Status ConversationWriter::flush() {
  const Status status = unfinished_.file->write(flushed_, gathered_);
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
    status =
        unfinished_.file->write(Bytes(0), encode_conversation_header(header));
  }
  if (status.ok()) {
    status = unfinished_.file->sync();
  }
  if (status.ok()) {
    status = options_.files->rename(unfinished_.path, options_.path);
  }
  if (!status.ok()) {
    return status;
  }
  unfinished_ = {};
  return options_.files->sync_folder(folder_of_path(options_.path));
}

} // namespace holdfast
