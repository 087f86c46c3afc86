// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/cpu.h"

#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(Cpu, NamesOfPathsReadBack) {
  for (const KernelPath path : kKernelPaths) {
    const Result<KernelPath> read = kernel_path(name(path));
    if (runs_here(path)) {
      ASSERT_TRUE(read.ok()) << name(path);
      EXPECT_EQ(read.value(), path);
    } else {
      EXPECT_EQ(read.status().code(), ErrorCode::kUnsupported) << name(path);
    }
  }
}

TEST(Cpu, RunsThePlainPathAndTheBestOneAndNoneOfAnotherFamily) {
  EXPECT_TRUE(runs_here(KernelPath::kPlain));
  EXPECT_TRUE(runs_here(best_kernel_path()));
  const bool x86 = runs_here(KernelPath::kAvx2);
  EXPECT_FALSE(x86 && runs_here(KernelPath::kNeon));
}

#if defined(__aarch64__)
TEST(Cpu, RunsNeonOnEvery64BitArm) {
  EXPECT_EQ(best_kernel_path(), KernelPath::kNeon);
}
#endif

TEST(Cpu, AnUnknownPathIsRefusedWithThoseThatAre) {
  for (const char* text : {"", "AMX", "sse", "plain "}) {
    const Status status = kernel_path(text).status();
    EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(
        status.text(),
        testing::HasSubstr("amx, avx512, avx2, neon or plain, got"));
  }
}

TEST(Cpu, CountsAtLeastOneCoreAndNoMoreThanThereAre) {
  EXPECT_GE(usable_cores(), 1);
  const auto all = static_cast<int>(std::thread::hardware_concurrency());
  if (all > 0) {
    EXPECT_LE(usable_cores(), all);
  }
}

} // namespace
} // namespace holdfast
