// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/linear_scratch.h"

#include <memory>

#include "holdfast/env/pages.h"

namespace holdfast::cpu {

void Scratch::allocate() {
  thread_local std::shared_ptr<std::byte> kept;
  thread_local int64_t kept_size = 0;
  if (kept_size < size_) {
    kept.reset();
    kept_size = 0;
    kept = allocate_pages(size_);
    kept_size = size_;
  }
  for (const auto& [pointer, at] : wanted_) {
    *pointer = kept.get() + at;
  }
}

} // namespace holdfast::cpu
