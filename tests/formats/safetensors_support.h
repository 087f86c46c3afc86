// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Safetensors files in memory. Threads: one at a time.

#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "holdfast/env/memory_file_system.h"
#include "holdfast/formats/safetensors.h"

namespace holdfast::test {

/// A file of that header and so many bytes of data, byte i of which is i.
inline std::shared_ptr<MemoryFileSystem>
safetensors_file(const std::string& json, size_t data) {
  const auto files = MemoryFileSystem::make();
  const uint64_t length = json.size();
  std::vector<std::byte> bytes(sizeof(length) + json.size() + data);
  std::memcpy(bytes.data(), &length, sizeof(length));
  std::memcpy(bytes.data() + sizeof(length), json.data(), json.size());
  for (size_t i = 0; i < data; ++i) {
    bytes[sizeof(length) + json.size() + i] = static_cast<std::byte>(i);
  }
  files->create("/file").value()->write(Bytes(0), bytes).check();
  return files;
}

inline Result<std::unique_ptr<SafetensorsFile>>
open_safetensors(const std::string& json, size_t data) {
  return SafetensorsFile::open(*safetensors_file(json, data), "/file");
}

} // namespace holdfast::test
