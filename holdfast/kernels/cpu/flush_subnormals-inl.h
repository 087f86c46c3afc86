// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Subnormal numbers as AMX takes them, for the vector forms of its products.
// x86-64 alone. Include it in a kernel's .cpp file alone.

#pragma once

#include <cstdint>

namespace holdfast::cpu {
namespace {

/// While it lives, subnormal inputs and results of this thread are zero. What
/// is computed in its scope must be read from and written to memory there.
class FlushSubnormals {
 public:
  FlushSubnormals() {
    asm volatile("stmxcsr %0" : "=m"(saved_) : : "memory");
    const uint32_t flushed = 0x9fc0; // all masked, nearest even, FTZ, DAZ
    asm volatile("ldmxcsr %0" : : "m"(flushed) : "memory");
  }
  ~FlushSubnormals() {
    asm volatile("ldmxcsr %0" : : "m"(saved_) : "memory");
  }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  uint32_t saved_;
};

} // namespace
} // namespace holdfast::cpu
