// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Large anonymous memory that is streamed through: aligned to a cache line, and
// on huge pages where the system grants them. Zero at first. Any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace holdfast {

/// Throws kOutOfBudget where the system has no such memory. Released with its
/// last owner.
std::shared_ptr<std::byte> allocate_pages(int64_t bytes);

} // namespace holdfast
