// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Reads a conversation's file (docs/conversation.md): header and directory when
// it is opened, images and body one at a time, each compared with its checksum
// before it is unpacked or given out. Threads: any.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "holdfast/base/sha256.h"
#include "holdfast/base/status.h"
#include "holdfast/env/file_system.h"
#include "holdfast/tier/conversation_format.h"

namespace holdfast {

class ConversationReader {
 public:
  /// kCorrupt where the file contradicts its format, kUnsupported for another
  /// version or layout, kNotFound, kIo. Takes memory for a small multiple of
  /// the directory, which is 1 GiB at most.
  static Result<std::unique_ptr<ConversationReader>>
  open(FileSystem& files, const std::string& path);

  const Conversation& content() const {
    return content_;
  }
  Bytes file_bytes() const {
    return file_bytes_;
  }
  /// SHA-256 of header and directory, which have the checksums of the rest.
  const Digest256& digest() const {
    return digest_;
  }
  /// An image's or the body's bytes, unpacked; kCorrupt where they contradict
  /// their checksum.
  Result<std::vector<std::byte>> read(const ConversationPiece& piece) const;
  Result<std::string> body() const;
  /// Reads everything. progress: bytes done, bytes in all.
  using Progress = std::function<void(Bytes done, Bytes total)>;
  Status verify(const Progress& progress = nullptr) const;

 private:
  ConversationReader() = default;
  Status read_content();

  std::unique_ptr<File> file_;
  Conversation content_;
  Bytes file_bytes_;
  Digest256 digest_;
};

} // namespace holdfast
