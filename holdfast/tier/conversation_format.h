// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The bytes of a conversation's file: header, data, directory; see
// docs/conversation.md. An encoder and parsers over memory, without files.
//
// Parsers take any bytes: they read nothing outside, allocate no more than a
// small multiple of what they are given, and check every field before its use.
// Values; any thread.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/base/strong.h"
#include "holdfast/tier/batch.h"
#include "holdfast/tier/ids.h"

namespace holdfast {

inline constexpr std::string_view kConversationMagic = "holdconv";
inline constexpr uint32_t kConversationVersion = 1;
inline constexpr int64_t kConversationHeaderBytes = 64;
/// The most bytes of one image or body, and of a directory: a reader holds one
/// of each in memory.
inline constexpr Bytes kMostPieceBytes{int64_t{1} << 30};
/// How many times larger than its frame what was packed may be: zstd's own
/// bound is 2^15 (blocks of 128 KiB in four bytes).
inline constexpr int64_t kMostPacked = int64_t{1} << 16;

/// Bytes of the data part: an image or a body.
struct ConversationPiece {
  bool packed = false; // a zstd frame
  Bytes offset; // in the file
  Bytes stored; // there
  Bytes bytes; // unpacked; 0: there is none
  uint64_t checksum = 0; // of what is stored
};

struct ConversationImage {
  ImageSlot slot;
  ConversationPiece piece;
};

/// As StoredNode.
struct ConversationNode {
  std::vector<int32_t> tokens; // kBlockTokens, of the last node 1 or more
  std::string marks;
  int64_t cost = 0;
  std::vector<ConversationImage> images; // slots rise
};

/// What the record was in the tier that it came from, without a name where it
/// was none.
struct ConversationRecord {
  std::string space;
  std::string name;
  uint64_t version = 0;
  Position length; // tokens; the last node may have more
  ConversationPiece body;
};

struct Conversation {
  ScopeText scope;
  ConversationRecord record;
  std::vector<ConversationNode> nodes; // the path from the root on

  int64_t images() const;
  /// The leading record.length tokens.
  std::vector<int32_t> tokens() const;
};

struct ConversationHeader {
  Bytes file_bytes;
  Bytes directory_offset; // the directory ends with the file
  uint32_t nodes = 0;
  uint32_t images = 0;
  uint64_t directory_checksum = 0;
};

using ConversationHead = std::array<std::byte, kConversationHeaderBytes>;

/// With its checksum.
ConversationHead encode_conversation_header(const ConversationHeader& header);
std::vector<std::byte> encode_conversation_directory(const Conversation& what);

/// kCorrupt, or kUnsupported for another version or image layout. `file` is
/// for the text.
Result<ConversationHeader> parse_conversation_header(
    std::span<const std::byte> head,
    std::string_view file);
/// `bytes`: from header.directory_offset to the file's end.
Result<Conversation> parse_conversation_directory(
    const ConversationHeader& header,
    std::span<const std::byte> bytes,
    std::string_view file);

} // namespace holdfast
