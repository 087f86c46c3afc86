// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/pages.h"

#include <mutex>
#include <string>
#include <utility>

#include <sys/mman.h>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"

namespace holdfast {

namespace {

constexpr int64_t kPage = 4096;
constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr int64_t kLine = 64;
constexpr int64_t kSlab = int64_t{8} << 20;
constexpr int64_t kMost = int64_t{1} << 47; // a process's address space

// The slab that pieces are cut from, as long as one of them lives.
struct Slab {
  std::mutex mutex;
  std::weak_ptr<std::byte> memory;
  int64_t used = 0;
};

[[noreturn]] void refuse(int64_t bytes) {
  throw Error(
      ErrorCode::kOutOfBudget,
      "[allocate_pages] expected memory for " + std::to_string(bytes) +
          " bytes, got none");
}

} // namespace

std::shared_ptr<std::byte> allocate_pages(int64_t bytes) {
  expect(bytes > 0, "[allocate_pages] expected at least one byte");
  if (bytes > kMost) {
    refuse(bytes);
  }
  const auto size = static_cast<size_t>(round_up(bytes, kPage));
  // Pages appear, zero, when they are first touched: by the thread that fills
  // them. Only whole huge pages are used as such, so nothing is held that
  // nobody asked for.
  const bool huge = bytes >= kHugePage;
  const size_t slack = huge ? kHugePage - kPage : 0;
  void* mapped = ::mmap(
      nullptr,
      size + slack,
      PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS,
      -1,
      0);
  if (mapped == MAP_FAILED) {
    refuse(bytes);
  }
  auto* memory = static_cast<std::byte*>(mapped);
  if (huge) {
    const auto address = reinterpret_cast<uintptr_t>(mapped);
    const size_t lead = (kHugePage - address % kHugePage) % kHugePage;
    if (lead > 0) {
      ::munmap(memory, lead);
    }
    if (slack > lead) {
      ::munmap(memory + lead + size, slack - lead);
    }
    memory += lead;
#if defined(__linux__)
    ::madvise(memory, size, MADV_HUGEPAGE);
#endif
  }
  return {memory, [size](std::byte* p) { ::munmap(p, size); }};
}

std::shared_ptr<std::byte> allocate_piece(int64_t bytes) {
  if (bytes <= 0 || bytes > kSlab / 2) {
    return allocate_pages(bytes);
  }
  static Slab slab;
  std::lock_guard lock(slab.mutex);
  std::shared_ptr<std::byte> memory = slab.memory.lock();
  if (memory == nullptr || slab.used + bytes > kSlab) {
    memory = allocate_pages(kSlab);
    slab.memory = memory;
    slab.used = 0;
  }
  std::byte* piece = memory.get() + slab.used;
  slab.used += round_up(bytes, kLine);
  return {std::move(memory), piece};
}

} // namespace holdfast
