// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/pages.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"

namespace holdfast {

Pages::Pages(Bytes bytes) : bytes_(bytes) {
  expect(
      bytes.get() > 0 && bytes.get() % kPageBytes.get() == 0,
      "[pages] expected a positive multiple of 4096 bytes, got another size");
  // One huge page more than asked, so that an aligned start lies inside; what
  // is before and behind goes back.
  const auto size = static_cast<size_t>(bytes.get());
  const auto huge = static_cast<size_t>(kHugePageBytes.get());
  void* mapped = mmap(
      nullptr,
      size + huge,
      PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
      -1,
      0);
  if (mapped == MAP_FAILED) {
    throw Error(
        ErrorCode::kIo,
        "[pages] expected " + std::to_string(bytes.get()) +
            " bytes of memory, got: " + std::generic_category().message(errno));
  }
  auto* start = static_cast<std::byte*>(mapped);
  const auto address = reinterpret_cast<uintptr_t>(mapped);
  const size_t before = (huge - address % huge) % huge;
  if (before > 0) {
    munmap(start, before);
  }
  data_ = start + before;
  munmap(data_ + size, huge - before);
  madvise(data_, size, MADV_HUGEPAGE); // a wish: any answer will do
}

Pages::~Pages() {
  if (data_) {
    munmap(data_, static_cast<size_t>(bytes_.get()));
  }
}

} // namespace holdfast
