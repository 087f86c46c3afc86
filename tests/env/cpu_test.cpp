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
    if (path >= best_kernel_path()) {
      ASSERT_TRUE(read.ok()) << name(path);
      EXPECT_EQ(read.value(), path);
    } else {
      EXPECT_EQ(read.status().code(), ErrorCode::kUnsupported) << name(path);
    }
  }
}

TEST(Cpu, AnUnknownPathIsRefusedWithThoseThatAre) {
  for (const char* text : {"", "AMX", "sse", "plain "}) {
    const Status status = kernel_path(text).status();
    EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(
        status.text(), testing::HasSubstr("amx, avx512, avx2 or plain, got"));
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
