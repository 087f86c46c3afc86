// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The bytes of one file in memory: what readers see, what is on the device,
// and every change between the two. For memory_file_system, which serialises
// all calls.
//
// After power loss each 512-byte sector, and the size, is as it was after some
// number of the changes since the last sync, each its own number: a device
// writes sectors whole, in any order, and may have written one several times.
// Whole pages that a truncation cuts off are gone if its size is there, and as
// they were if it is not: a file system gives up blocks with the size, and does
// not write to them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace holdfast {

/// Begins at a page, as what a system maps does.
template <class T>
struct PageAllocator {
  using value_type = T;
  static constexpr std::align_val_t kPage{4096};

  PageAllocator() = default;
  template <class U>
  PageAllocator(const PageAllocator<U>&) {}
  T* allocate(size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kPage));
  }
  void deallocate(T* at, size_t) {
    ::operator delete(at, kPage);
  }
  bool operator==(const PageAllocator&) const = default;
};
using PageVector = std::vector<std::byte, PageAllocator<std::byte>>;

inline constexpr int64_t kSectorBytes = 512;
/// The unit in which room is given and taken.
inline constexpr int64_t kMemoryPageBytes = 4096;

class MemoryBytes {
 public:
  MemoryBytes() = default;
  /// On the device, all of it; pages of zeros are holes.
  explicit MemoryBytes(PageVector bytes);

  int64_t size() const {
    return size_;
  }
  /// Pages that hold data, in bytes.
  int64_t allocated() const {
    return pages_ * kMemoryPageBytes;
  }
  /// What a write to [offset, offset + length) would add to allocated().
  int64_t growth(int64_t offset, int64_t length) const;
  /// [offset, offset + into.size()) lies within the file.
  void read(int64_t offset, std::span<std::byte> into) const;
  void write(int64_t offset, std::span<const std::byte> from);
  void truncate(int64_t size);
  void punch(int64_t offset, int64_t length);
  /// Everything is on the device.
  void sync();
  /// A sync failed: what was not on the device never gets there by itself.
  void lose();
  /// The bytes from `offset` on, for as long as the result lives. What is
  /// written later may not show.
  std::shared_ptr<const std::byte> map(int64_t offset) const;

  /// Changes since the last sync.
  int64_t changes() const {
    return static_cast<int64_t>(changes_.size());
  }
  /// The first sector of the last of them, and how many it touches; {0, 0}.
  std::pair<int64_t, int64_t> last_sectors() const;
  /// What is on the device after power loss. survives(change, sector): whether
  /// the change of that number, from 0, got there; sector -1 is the size. What
  /// is false of one change of a sector is false of the later ones.
  using Survives = std::function<bool(int64_t change, int64_t sector)>;
  PageVector after_loss(const Survives& survives) const;

 private:
  struct Change {
    enum class Kind { kWrite, kTruncate, kPunch };
    Kind kind;
    int64_t offset; // of a truncate: the new size
    int64_t length;
    PageVector bytes; // of a write

    int64_t size_after(int64_t size_before) const;
    /// The end of what it changes in a file of `size` bytes.
    int64_t end(int64_t size) const;
    /// Does to `file` what it does between `begin` and `end`.
    void put(int64_t begin, int64_t end, PageVector& file) const;
  };

  void reserve(int64_t size);
  void zero(int64_t begin, int64_t end);
  void set_page(int64_t page, bool used);

  std::shared_ptr<PageVector> now_ =
      std::make_shared<PageVector>(); // size_ bytes, then zeros
  int64_t size_ = 0;
  std::vector<bool> used_; // by page
  int64_t pages_ = 0;
  PageVector stored_;
  std::vector<Change> changes_;
};

} // namespace holdfast
