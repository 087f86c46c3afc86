// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// An object: bytes under an exact key, that never change. A copy of an Object
// is a lease: its bytes stay while one lives, whatever is put, evicted or
// removed, and though the cache be gone. Values; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "holdfast/base/strong.h"
#include "holdfast/env/mapping_guard.h"

namespace holdfast {

/// Compared byte by byte. The space says whose keys they are.
struct ObjectKey {
  std::string space;
  std::string key;
  bool operator==(const ObjectKey&) const = default;
};

struct ObjectKeyHash {
  size_t operator()(const ObjectKey& key) const;
};

class Object {
 public:
  enum class Memory { kOwn, kMapped };

  Object() = default; // of no bytes
  /// held: what it counts in a budget.
  Object(
      std::shared_ptr<const std::byte> bytes,
      Bytes size,
      Bytes held,
      Memory memory = Memory::kOwn)
      : bytes_(std::move(bytes)), size_(size), held_(held), memory_(memory) {}

  /// At an address that is a multiple of 64.
  std::span<const std::byte> bytes() const {
    return {bytes_.get(), static_cast<size_t>(size_.get())};
  }
  Bytes size() const {
    return size_;
  }
  Bytes held() const {
    return held_;
  }
  const std::shared_ptr<const std::byte>& owner() const {
    return bytes_;
  }
  /// Asked after the bytes were used: false where they lie in a file that
  /// somebody cut short meanwhile, so that they mean nothing (mapping_guard.h).
  bool intact() const {
    return memory_ == Memory::kOwn || mapping_is_whole(bytes_.get());
  }
  /// The same memory.
  bool operator==(const Object& other) const {
    return bytes_ == other.bytes_;
  }

 private:
  std::shared_ptr<const std::byte> bytes_;
  Bytes size_;
  Bytes held_;
  Memory memory_ = Memory::kOwn;
};

/// Bytes that are still being written, by one owner; counted in the budget of
/// the cache that gave them.
class OpenObject {
 public:
  OpenObject() = default; // of no bytes
  std::span<std::byte> bytes() {
    return {bytes_.get(), static_cast<size_t>(size_.get())};
  }
  explicit operator bool() const {
    return bytes_ != nullptr;
  }

 private:
  friend class ObjectBudget;
  friend class ObjectCache;
  OpenObject(std::shared_ptr<std::byte> bytes, Bytes size, Bytes held)
      : bytes_(std::move(bytes)), size_(size), held_(held) {}
  std::shared_ptr<std::byte> bytes_;
  Bytes size_;
  Bytes held_;
};

} // namespace holdfast
