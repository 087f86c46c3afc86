// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cstring>

#include "holdfast/base/checksum.h"
#include "holdfast/block/layout.h"
#include "holdfast/tier/conversation_fields.h"
#include "holdfast/tier/conversation_format.h"
#include "holdfast/tier/little_endian.h"

namespace holdfast {

namespace {

namespace at = conversation_fields;

class Output {
 public:
  template <class T>
  void put(std::type_identity_t<T> value) {
    const size_t begin = bytes_.size();
    bytes_.resize(begin + sizeof(T));
    store_le<T>(bytes_, begin, value);
  }
  void put(std::string_view text) {
    put<uint32_t>(static_cast<uint32_t>(text.size()));
    put_bytes(std::as_bytes(std::span(text)));
  }
  void put_bytes(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void put(const ConversationPiece& piece) {
    put<uint32_t>(piece.packed ? 1 : 0);
    put<uint32_t>(0);
    put<int64_t>(piece.stored.get());
    put<int64_t>(piece.bytes.get());
    put<uint64_t>(piece.checksum);
  }
  std::vector<std::byte> take() {
    return std::move(bytes_);
  }

 private:
  std::vector<std::byte> bytes_;
};

} // namespace

int64_t Conversation::images() const {
  int64_t count = 0;
  for (const ConversationNode& node : nodes) {
    count += std::ssize(node.images);
  }
  return count;
}

std::vector<int32_t> Conversation::tokens() const {
  std::vector<int32_t> all;
  for (const ConversationNode& node : nodes) {
    all.insert(all.end(), node.tokens.begin(), node.tokens.end());
  }
  all.resize(static_cast<size_t>(record.length.get()));
  return all;
}

ConversationHead encode_conversation_header(const ConversationHeader& header) {
  ConversationHead head{};
  std::memcpy(
      head.data(), kConversationMagic.data(), kConversationMagic.size());
  store_le<uint32_t>(head, at::kVersion, kConversationVersion);
  store_le<uint32_t>(head, at::kImageLayout, kImageLayoutVersion);
  store_le<uint32_t>(head, at::kBlockTokens, kBlockTokens);
  store_le<int64_t>(head, at::kFileBytes, header.file_bytes.get());
  store_le<int64_t>(head, at::kDirectoryOffset, header.directory_offset.get());
  store_le<uint32_t>(head, at::kNodes, header.nodes);
  store_le<uint32_t>(head, at::kImages, header.images);
  store_le<uint64_t>(head, at::kDirectoryChecksum, header.directory_checksum);
  store_le<uint64_t>(
      head,
      at::kHeaderChecksum,
      checksum(std::span<const std::byte>(head).first(at::kHeaderChecksum)));
  return head;
}

std::vector<std::byte> encode_conversation_directory(const Conversation& what) {
  Output out;
  out.put(what.scope.text);
  out.put(what.record.space);
  out.put(what.record.name);
  out.put<uint64_t>(what.record.version);
  out.put<int64_t>(what.record.length.get());
  out.put(what.record.body);
  for (const ConversationNode& node : what.nodes) {
    out.put<uint32_t>(static_cast<uint32_t>(node.tokens.size()));
    out.put<uint32_t>(static_cast<uint32_t>(node.images.size()));
    out.put<int64_t>(node.cost);
    out.put_bytes(std::as_bytes(std::span(node.tokens)));
    out.put(node.marks);
    for (const ConversationImage& image : node.images) {
      out.put<int32_t>(image.slot.group);
      out.put<int32_t>(image.slot.phase);
      out.put(image.piece);
    }
  }
  return out.take();
}

} // namespace holdfast
