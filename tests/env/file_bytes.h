// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Files as texts, for tests: what fails throws.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "holdfast/env/file_system.h"

namespace holdfast {

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::string text_of(const File& file) {
  std::string text(static_cast<size_t>(file.facts().value().size.get()), '\0');
  file.read(
          Bytes(0), std::as_writable_bytes(std::span(text.data(), text.size())))
      .check();
  return text;
}

inline std::string text_of(FileSystem& system, const std::string& path) {
  return text_of(*system.open(path, FileSystem::Access::kRead).value());
}

/// "stem7". Appends: GCC 12 warns of what `"stem" + std::string` inlines to.
inline std::string numbered(const char* stem, int64_t number) {
  std::string text = stem;
  text += std::to_string(number);
  return text;
}

inline std::vector<std::string>
names_in(FileSystem& system, const std::string& path) {
  return system.list(path).value();
}

/// A new file with this text, not synced.
inline std::unique_ptr<File> make_file(
    FileSystem& system,
    const std::string& path,
    const std::string& text) {
  auto file = system.create(path).value();
  file->write(Bytes(0), bytes_of(text)).check();
  return file;
}

/// A new file with this text, on the device with its name.
inline void make_durable(
    FileSystem& system,
    const std::string& path,
    const std::string& text) {
  make_file(system, path, text)->sync().check();
  system.sync_folder(path.substr(0, path.rfind('/')) + "/").check();
}

} // namespace holdfast
