// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A step of a fetch list: a few lines between products, so that memory is kept
// busy and products go on. Include it in a kernel's .cpp file alone.

#pragma once

#include <cstdint>

#include "holdfast/kernels/cpu/attend_kernels.h"

namespace holdfast::cpu {
namespace {

inline void fetch_step(FetchList& list) {
  if (list.at >= list.count) {
    return;
  }
  const ByteRange range = list.ranges[list.at];
  const int64_t left = range.bytes - list.offset;
  const bool last = left <= list.a_step;
  const std::byte* line = range.start + list.offset;
  const std::byte* end = line + (last ? left : list.a_step);
  for (; line < end; line += 64) {
    __builtin_prefetch(line, 0, 2);
  }
  list.offset = last ? 0 : list.offset + list.a_step;
  list.at += last ? 1 : 0;
}

} // namespace
} // namespace holdfast::cpu
