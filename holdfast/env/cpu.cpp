// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/cpu.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace holdfast {

namespace {

constexpr int kUnlimited = 1 << 20;

#if defined(__x86_64__) && defined(__linux__)

bool has_amx_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    return false;
  }
  const bool amx_bf16 = d & (1u << 22);
  const bool avx512_fp16 = d & (1u << 23);
  const bool amx_tile = d & (1u << 24);
  const bool amx_int8 = d & (1u << 25);
  return amx_bf16 && avx512_fp16 && amx_tile && amx_int8;
}

// The tile registers are off until a process asks (Linux 5.16 and later).
bool request_amx() {
  constexpr long kArchReqXcompPerm = 0x1023;
  constexpr long kXfeatureXtiledata = 18;
  return syscall(SYS_arch_prctl, kArchReqXcompPerm, kXfeatureXtiledata) == 0;
}

// Each names what its files are compiled for: cmake/HoldfastTargets.cmake.
bool has_avx512() {
  return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

// clang has no name for it.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & (1u << 29)) != 0;
}

bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
      has_f16c();
}

bool has_amx() {
  return has_avx512() && __builtin_cpu_supports("avx512vbmi") &&
      __builtin_cpu_supports("avx512vbmi2") &&
      __builtin_cpu_supports("avx512vnni") &&
      __builtin_cpu_supports("avx512bf16") && has_amx_tiles() && request_amx();
}

#else

bool has_avx512() {
  return false;
}
bool has_avx2() {
  return false;
}
bool has_amx() {
  return false;
}

#endif

// Part of every 64-bit Arm.
bool has_neon() {
#if defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

// cgroup v2: "200000 100000"; "max 100000" or no file where nothing is set.
int quota_cores() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0;
  double period = 0;
  if (!(file >> quota >> period) || quota <= 0 || period <= 0) {
    return kUnlimited;
  }
  return static_cast<int>(
      std::clamp(std::ceil(quota / period), 1.0, double{kUnlimited}));
}

} // namespace

const char* name(KernelPath path) {
  switch (path) {
    case KernelPath::kAmx:
      return "amx";
    case KernelPath::kAvx512:
      return "avx512";
    case KernelPath::kAvx2:
      return "avx2";
    case KernelPath::kNeon:
      return "neon";
    case KernelPath::kPlain:
      return "plain";
  }
  return "unknown";
}

KernelPath best_kernel_path() {
  static const KernelPath best = has_amx() ? KernelPath::kAmx
      : has_avx512()                       ? KernelPath::kAvx512
      : has_avx2()                         ? KernelPath::kAvx2
      : has_neon()                         ? KernelPath::kNeon
                                           : KernelPath::kPlain;
  return best;
}

bool runs_here(KernelPath path) {
  // A processor of x86-64 runs what follows its best; NEON is of another kind.
  const KernelPath best = best_kernel_path();
  return path == best || path == KernelPath::kPlain ||
      (path > best && path != KernelPath::kNeon);
}

Result<KernelPath> kernel_path(std::string_view text) {
  for (auto path : kKernelPaths) {
    if (text == name(path)) {
      if (!runs_here(path)) {
        return Status(
            ErrorCode::kUnsupported,
            "[kernel_path] expected a path of this processor, got " +
                std::string(text));
      }
      return path;
    }
  }
  return Status(
      ErrorCode::kInvalidArgument,
      "[kernel_path] expected amx, avx512, avx2, neon or plain, got " +
          std::string(text));
}

int usable_cores() {
  int cores = static_cast<int>(std::thread::hardware_concurrency());
#if defined(__linux__)
  cpu_set_t set; // fails beyond its 1024 processors
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    cores = CPU_COUNT(&set);
  }
#endif
  return std::max(1, std::min(cores, quota_cores()));
}

} // namespace holdfast
