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

/// The same for pieces that live equally long, such as a model's weights: small
/// ones are cut from shared huge pages, where translation misses and page ends
/// do not interrupt the stream. A piece keeps its whole slab, 8 MiB, alive.
std::shared_ptr<std::byte> allocate_piece(int64_t bytes);

} // namespace holdfast
