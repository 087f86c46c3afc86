// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Which form of a path expands a run of tiles of codes, by their bits. Include
// it in a kernel's .cpp file alone. Stateless; any thread.

#pragma once

#include <cstddef>
#include <cstdint>

#include "holdfast/kernels/cpu/attend_fetch-inl.h"
#include "holdfast/kernels/cpu/attend_kernels.h"

namespace holdfast::cpu {
namespace {

/// `count` tiles of codes to `count` tiles [16][32] of what they stand for, a
/// step of the fetch list after each. Forms: one tile each, of codes of 8 bits
/// (bytes), of 6 (sixes), and of kBits by a table of levels (table, levels).
template <class Forms>
inline void expand_tiles(
    const CodedPlanes& codes,
    const std::byte* from,
    int64_t count,
    uint16_t* to,
    FetchList& fetch) {
  const int64_t bytes = 64 * codes.bits;
  const auto each = [&](auto expand) {
    for (int64_t i = 0; i < count; ++i) {
      expand(from + i * bytes, to + i * 512);
      fetch_step(fetch);
    }
  };
  if (codes.bits == 8) {
    each([](const std::byte* f, uint16_t* t) { Forms::bytes(f, t); });
    return;
  }
  if (codes.bits == 6) {
    each([](const std::byte* f, uint16_t* t) { Forms::sixes(f, t); });
    return;
  }
  const auto levels = Forms::table(codes.levels);
  const auto look_up = [&]<int kBits>() {
    each([&](const std::byte* f, uint16_t* t) {
      Forms::template levels<kBits>(f, levels, t);
    });
  };
  codes.bits == 2       ? look_up.template operator()<2>()
      : codes.bits == 3 ? look_up.template operator()<3>()
      : codes.bits == 4 ? look_up.template operator()<4>()
                        : look_up.template operator()<5>();
}

} // namespace
} // namespace holdfast::cpu
