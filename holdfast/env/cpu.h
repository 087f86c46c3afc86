// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What this processor can do, and how many of its cores this process may use.
// Threads: any.

#pragma once

#include <string>
#include <string_view>

#include "holdfast/base/status.h"

namespace holdfast {

/// The families of CPU kernels, best first. All give the same bits; see
/// docs/numerics.md.
enum class KernelPath {
  kAmx, // AMX bf16 tiles, with AVX-512 (FP16, BF16, VBMI) around them
  kAvx512, // AVX-512 F, BW, DQ, VL
  kAvx2, // AVX2, FMA, F16C, BMI 1 and 2
  kNeon, // 64-bit Arm
  kPlain, // standard C++
};

inline constexpr KernelPath kKernelPaths[] = {
    KernelPath::kAmx,
    KernelPath::kAvx512,
    KernelPath::kAvx2,
    KernelPath::kNeon,
    KernelPath::kPlain};

/// "amx", "avx512", "avx2", "neon" or "plain".
const char* name(KernelPath path);
/// The path of that name, or kInvalidArgument naming them all; kUnsupported
/// where this processor lacks it.
Result<KernelPath> kernel_path(std::string_view name);
/// The best path of this processor. Asks the system for AMX on first use, so
/// call it before threads are made.
KernelPath best_kernel_path();
/// Whether this processor runs the path; kPlain runs everywhere.
bool runs_here(KernelPath path);
/// The processors this process may run on (affinity and cgroup quota), >= 1.
int usable_cores();

} // namespace holdfast
