// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Conversations' files in memory, for tests of their format. Threads: one at a
// time.

#pragma once

#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "holdfast/base/checksum.h"
#include "holdfast/env/memory_file_system.h"
#include "holdfast/tier/conversation_fields.h"
#include "holdfast/tier/conversation_reader.h"
#include "holdfast/tier/conversation_writer.h"
#include "holdfast/tier/little_endian.h"

namespace holdfast::test {

using TalkBytes = std::vector<std::byte>;

/// Byte i is i mod 251.
inline TalkBytes counting_image(size_t size = 4096) {
  TalkBytes image(size);
  for (size_t i = 0; i < image.size(); ++i) {
    image[i] = static_cast<std::byte>(i % 251);
  }
  return image;
}

/// What docs/conversation.md shows: 66 tokens in two nodes, an image each.
inline TalkBytes example_conversation(int level = 0) {
  const auto files = MemoryFileSystem::make();
  const auto writer =
      ConversationWriter::create({files, "/talk", level}).value();
  writer->add_body("a body").check();
  ConversationNode first{.tokens = {}, .marks = {}, .cost = 7, .images = {}};
  first.tokens.resize(64);
  std::iota(first.tokens.begin(), first.tokens.end(), 1);
  writer->add_node(first);
  writer->add_image({0, 0}, counting_image()).check();
  writer->add_node({.tokens = {65, 66}, .marks = "m", .cost = 9, .images = {}});
  writer->add_image({0, 0}, counting_image()).check();
  writer->finish({"a scope"}, {"chat", "a name", 3, Position(66), {}}).value();
  const auto file = files->open("/talk", FileSystem::Access::kRead).value();
  TalkBytes bytes(static_cast<size_t>(file->facts().value().size.get()));
  file->read(Bytes(0), bytes).check();
  return bytes;
}

/// Reads all of it and compares every checksum; ok, or the first error.
inline Status read_conversation(std::span<const std::byte> bytes) {
  const auto files = MemoryFileSystem::make();
  const auto file = files->create("/talk").value();
  if (!bytes.empty()) {
    file->write(Bytes(0), bytes).check();
  }
  const auto reader = ConversationReader::open(*files, "/talk");
  if (!reader.ok()) {
    return reader.status();
  }
  if (const auto body = reader.value()->body(); !body.ok()) {
    return body.status();
  }
  return reader.value()->verify();
}

/// Makes the checksums of directory and header right, so that only the fields
/// themselves can be wrong.
inline void seal_conversation(std::span<std::byte> bytes) {
  namespace at = conversation_fields;
  const auto offset = load_le<uint64_t>(bytes, at::kDirectoryOffset);
  if (offset < bytes.size()) {
    store_le<uint64_t>(
        bytes,
        at::kDirectoryChecksum,
        checksum(bytes.subspan(static_cast<size_t>(offset))));
  }
  store_le<uint64_t>(
      bytes, at::kHeaderChecksum, checksum(bytes.first(at::kHeaderChecksum)));
}

} // namespace holdfast::test
