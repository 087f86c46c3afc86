// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/pages.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace holdfast {

namespace {

constexpr int64_t kLine = 64;
constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr int64_t kMost = int64_t{1} << 47; // a process's address space

} // namespace

std::shared_ptr<std::byte> allocate_pages(int64_t bytes) {
  expect(bytes > 0, "[allocate_pages] expected at least one byte");
  // The tail beyond the last whole huge page stays on small pages, so that no
  // memory is held which nobody asked for.
  const bool huge = bytes >= kHugePage;
  const int64_t size = round_up(std::min(bytes, kMost), kLine);
  void* memory = bytes > kMost
      ? nullptr
      : std::aligned_alloc(
            huge ? kHugePage : kLine, huge ? round_up(size, kHugePage) : size);
  if (memory == nullptr) {
    throw Error(
        ErrorCode::kOutOfBudget,
        "[allocate_pages] expected memory for " + std::to_string(bytes) +
            " bytes, got none");
  }
#if defined(__linux__)
  if (huge) {
    madvise(memory, static_cast<size_t>(size), MADV_HUGEPAGE);
  }
#endif
  std::memset(memory, 0, static_cast<size_t>(size));
  return {static_cast<std::byte*>(memory), [](std::byte* p) { std::free(p); }};
}

} // namespace holdfast
