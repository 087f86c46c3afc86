// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// For tests of objects/: values whose bytes follow from key and version, and a
// cache over a tier in memory whose calls can be made to fail. Threads: one at
// a time, but for the cache.

#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "holdfast/env/faulty_file_system.h"
#include "holdfast/env/manual_clock.h"
#include "holdfast/env/memory_file_system.h"
#include "holdfast/objects/object_cache.h"

namespace holdfast::test {

inline ObjectKey name_of(int number) {
  return {"test", "object " + std::to_string(number)};
}

/// Of that many bytes, at least 16.
inline std::string value_of(int number, int version, int64_t size) {
  std::string text = std::to_string(number) + "." + std::to_string(version);
  text.resize(static_cast<size_t>(size), '-');
  for (size_t i = 16; i < text.size(); i += 97) {
    text[i] = static_cast<char>(number * 31 + version * 7 + int(i));
  }
  return text;
}

inline std::string text_of(const Object& object) {
  const auto bytes = object.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline void write(OpenObject& open, const std::string& text) {
  std::memcpy(open.bytes().data(), text.data(), text.size());
}

inline OpenObject open_with(ObjectCache& cache, const std::string& text) {
  OpenObject open = cache.open(Bytes(std::ssize(text)));
  write(open, text);
  return open;
}

inline Object put(ObjectCache& cache, int number, const std::string& text) {
  return cache.put(name_of(number), open_with(cache, text));
}

/// "" where there is none.
inline std::string get(ObjectCache& cache, int number) {
  const std::optional<Object> found = cache.get(name_of(number));
  return found ? text_of(*found) : "";
}

struct ObjectRig {
  std::shared_ptr<MemoryFileSystem> memory = MemoryFileSystem::make();
  std::shared_ptr<FaultyFileSystem> files =
      std::make_shared<FaultyFileSystem>(memory);
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  Bytes max_disk{int64_t{64} << 20};
  Verify verify = Verify::kFirstTouch;

  std::shared_ptr<DiskTier> open_disk() const {
    return DiskTier::open({.folder = "/state",
                           .max_bytes = max_disk,
                           .verify = verify,
                           .files = files,
                           .clock = clock})
        .value();
  }
  /// Writes where flush() says, unless there are writers.
  ObjectCacheOptions over(std::shared_ptr<DiskTier> disk, int64_t ram) const {
    return {
        .ram = Bytes(ram),
        .disk = std::move(disk),
        .clock = clock,
        .writers = 0};
  }
};

} // namespace holdfast::test
