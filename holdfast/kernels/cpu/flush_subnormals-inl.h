// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Subnormal numbers as AMX takes them, for the vector forms of its products.
// x86-64 and 64-bit Arm alone. Include it in a kernel's .cpp file alone.

#pragma once

#include <cstdint>

namespace holdfast::cpu {
namespace {

/// While it lives, subnormal inputs and results of this thread are zero. What
/// is computed in its scope must be read from and written to memory there.
class FlushSubnormals {
 public:
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

#if defined(__x86_64__)
  /// A result is too small if it is so once rounded, as tile-inl.h has it.
  static constexpr bool kAfterRounding = true;

  FlushSubnormals() {
    asm volatile("stmxcsr %0" : "=m"(saved_) : : "memory");
    const uint32_t flushed = 0x9fc0; // all masked, nearest even, FTZ, DAZ
    asm volatile("ldmxcsr %0" : : "m"(flushed) : "memory");
  }
  ~FlushSubnormals() {
    asm volatile("ldmxcsr %0" : : "m"(saved_) : "memory");
  }

 private:
  uint32_t saved_;
#elif defined(__aarch64__)
  /// A result is too small if it is so before rounding: 2^-126 - 2^-151 and
  /// more become zero, not 2^-126. flushed_any() tells.
  static constexpr bool kAfterRounding = false;

  FlushSubnormals() {
    asm volatile("mrs %0, fpcr\n\tmrs %1, fpsr"
                 : "=r"(control_), "=r"(status_)
                 :
                 : "memory");
    go_on();
  }
  ~FlushSubnormals() {
    asm volatile("msr fpcr, %0\n\tmsr fpsr, %1"
                 :
                 : "r"(control_), "r"(status_)
                 : "memory");
  }
  /// Whether a result since go_on() was made zero; inputs do not count.
  bool flushed_any() const {
    uint64_t status;
    asm volatile("mrs %0, fpsr" : "=r"(status) : : "memory");
    return (status & (1u << 3)) != 0; // UFC
  }
  /// Between them subnormals are what they were before.
  void pause() const {
    asm volatile("msr fpcr, %0" : : "r"(control_) : "memory");
  }
  void go_on() const {
    const uint64_t flushed = uint64_t{1} << 24; // FZ; nearest even, no traps
    asm volatile("msr fpcr, %0\n\tmsr fpsr, xzr" : : "r"(flushed) : "memory");
  }

 private:
  uint64_t control_;
  uint64_t status_;
#endif
};

} // namespace
} // namespace holdfast::cpu
