// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/read_tokenizer.h"

#include <span>
#include <utility>

#include "holdfast/env/posix_file_system.h"
#include "holdfast/formats/gguf_tokenizer.h"
#include "holdfast/formats/tokenizer_folder.h"
#include "holdfast/formats/tokenizer_json.h"
#include "holdfast/formats/tokenizer_model.h"

namespace holdfast {
namespace {

constexpr Bytes kMostBytes{int64_t{1} << 29}; // 512 MiB

/// What reads the bytes of a file.
template <class Read>
Result<Tokenizer> read_bytes(const std::string& path, Read read) {
  const auto bytes = read_text_file(path);
  return bytes.ok() ? read(bytes.value()) : bytes.status();
}

} // namespace

Result<std::string> read_text_file(const std::string& path) {
  const auto file = posix_file_system()->open(path, FileSystem::Access::kRead);
  if (!file.ok()) {
    return file.status();
  }
  const auto facts = file.value()->facts();
  if (!facts.ok()) {
    return facts.status();
  }
  const Bytes size = facts.value().size;
  if (size > kMostBytes) {
    return Status(
        ErrorCode::kUnsupported,
        path + ": expected at most 512 MiB, got " + std::to_string(size.get()) +
            " bytes");
  }
  std::string bytes(static_cast<size_t>(size.get()), '\0');
  const Status status =
      file.value()->read(Bytes{0}, std::as_writable_bytes(std::span(bytes)));
  if (!status.ok()) {
    return status;
  }
  return bytes;
}

Result<Tokenizer> read_tokenizer(const std::string& path) {
  const auto facts = posix_file_system()->facts(path);
  if (!facts.ok()) {
    return facts.status();
  }
  if (facts.value().kind == FileFacts::Kind::kFolder) {
    auto folder = read_tokenizer_folder(path);
    return folder.ok() ? Result<Tokenizer>(std::move(folder).value().tokenizer)
                       : folder.status();
  }
  if (path.ends_with(".json")) {
    return read_bytes(path, [&](const std::string& bytes) {
      return read_tokenizer_json(bytes, path);
    });
  }
  if (path.ends_with(".model")) {
    return read_bytes(path, [&](const std::string& bytes) {
      return read_tokenizer_model(bytes, path);
    });
  }
  const auto file = GgufFile::open(path);
  return file.ok() ? read_gguf_tokenizer(file.value()) : file.status();
}

} // namespace holdfast
