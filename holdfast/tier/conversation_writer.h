// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Writes a conversation's file (docs/conversation.md), piece by piece: it holds
// one image in memory, whatever the conversation's length.
//
// Under a drawn name until finish(): then synced, renamed, and the folder
// synced. Whoever reads the path meets the former file, or the whole new one.
// It is locked meanwhile; the unfinished files of the path that nobody holds
// are of writers who died, and the next one removes them. Threads: one at a
// time.

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/env/file_system.h"
#include "holdfast/tier/conversation_format.h"

namespace holdfast {

struct ConversationWriterOptions {
  std::shared_ptr<FileSystem> files;
  std::string path;
  int zstd_level = 0; // 0: as they are
};

class ConversationWriter {
 public:
  /// Makes the unfinished file beside the path. Throws kInvalidArgument for
  /// another level.
  static Result<std::unique_ptr<ConversationWriter>>
  create(ConversationWriterOptions options);
  /// Removes what is unfinished.
  ~ConversationWriter();
  ConversationWriter(const ConversationWriter&) = delete;
  ConversationWriter& operator=(const ConversationWriter&) = delete;

  // In this order: a body, then nodes each with its images. After an error
  // nothing more can be done.

  /// A record's body; at most once, before all nodes.
  Status add_body(std::string_view body);
  /// The next node of the path; its images are those added next.
  void add_node(ConversationNode node);
  /// Of the last node; slots rise. Whole pages.
  Status add_image(ImageSlot slot, std::span<const std::byte> image);
  /// record.body is that of add_body. Returns the file's size. Throws
  /// kInvalidArgument where the nodes are no path of that length.
  Result<Bytes>
  finish(const ScopeText& scope, const ConversationRecord& record);

 private:
  struct Unfinished {
    std::string path;
    std::unique_ptr<File> file;
    std::unique_ptr<FileLock> lock;
  };
  ConversationWriter(ConversationWriterOptions options, Unfinished unfinished);
  static Result<Unfinished>
  create_unfinished(FileSystem& files, const std::string& path);
  Result<ConversationPiece> add(std::span<const std::byte> bytes);
  Status append(std::span<const std::byte> bytes);
  Status flush();
  Status publish(const std::vector<std::byte>& directory);

  const ConversationWriterOptions options_;
  Unfinished unfinished_; // no file once it is finished
  Conversation content_;
  Bytes end_{kConversationHeaderBytes}; // of the data
  Bytes flushed_{kConversationHeaderBytes};
  std::vector<std::byte> gathered_;
};

} // namespace holdfast
