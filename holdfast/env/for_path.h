// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The form of something that was compiled for each kernel path. Pure; any
// thread.

#pragma once

#include "holdfast/env/cpu.h"

namespace holdfast {

/// The one of the path: pointers to functions or objects of one type, best
/// path first. What this kind of processor cannot run need not be linked.
template <auto kAmx, auto kAvx512, auto kAvx2, auto kNeon, auto kPlain>
constexpr auto for_path(KernelPath path) {
#if defined(__x86_64__)
  switch (path) {
    case KernelPath::kAmx:
      return kAmx;
    case KernelPath::kAvx512:
      return kAvx512;
    case KernelPath::kAvx2:
      return kAvx2;
    case KernelPath::kNeon:
    case KernelPath::kPlain:
      break;
  }
#elif defined(__aarch64__)
  if (path == KernelPath::kNeon) {
    return kNeon;
  }
#else
  static_cast<void>(path);
#endif
  return kPlain;
}

/// kVec256: one source for AVX2 and NEON.
template <auto kAmx, auto kAvx512, auto kVec256, auto kPlain>
constexpr auto for_path(KernelPath path) {
  return for_path<kAmx, kAvx512, kVec256, kVec256, kPlain>(path);
}

} // namespace holdfast
