// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Reads arbitrary bytes as a conversation's file, whole. The first byte says
// whether the checksums of header and directory are made right first: a fuzzer
// cannot guess them.

#include <cstdlib>
#include <vector>

#include "holdfast/base/zstd.h"
#include "tests/tier/conversation_support.h"

namespace {

using namespace holdfast;

/// What is packed, whatever its checksum says.
void unpack(const std::vector<std::byte>& bytes) {
  const std::span all(bytes);
  const auto header = parse_conversation_header(
      all.first(std::min<size_t>(all.size(), kConversationHeaderBytes)),
      "file");
  if (!header.ok() || header.value().file_bytes != Bytes(std::ssize(bytes))) {
    return;
  }
  const auto content = parse_conversation_directory(
      header.value(),
      all.subspan(static_cast<size_t>(header.value().directory_offset.get())),
      "file");
  if (!content.ok()) {
    return;
  }
  for (const ConversationNode& node : content.value().nodes) {
    for (const ConversationImage& image : node.images) {
      const ConversationPiece& piece = image.piece;
      if (piece.packed && piece.bytes < Bytes(1 << 20)) {
        std::vector<std::byte> into(static_cast<size_t>(piece.bytes.get()));
        (void)zstd_unpack(
            all.subspan(
                static_cast<size_t>(piece.offset.get()),
                static_cast<size_t>(piece.stored.get())),
            into)
            .ok();
      }
    }
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) {
    return 0;
  }
  const auto* input = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> bytes(input + 1, input + size);
  if ((data[0] & 1) != 0 && std::ssize(bytes) >= kConversationHeaderBytes) {
    test::seal_conversation(bytes);
  }
  unpack(bytes);
  const Status status = test::read_conversation(bytes);
  // A complaint is one line.
  if (status.text().find('\n') != std::string::npos ||
      status.text().size() > 500) {
    std::abort();
  }
  return 0;
}
