// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Bytes that are asked for ahead, on every file system.

#include <string>

#include <gtest/gtest.h>

#include "each_file_system.h"
#include "holdfast/env/faulty_file_system.h"
#include "holdfast/env/memory_file_system.h"

namespace holdfast {
namespace {

class WillNeed : public EachFileSystem {};

TEST_P(WillNeed, LeavesTheBytesAsTheyAre) {
  // More than one piece, from the middle of a page to the middle of another.
  std::string text(3'000'000, '\0');
  for (size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<char>('a' + i % 26);
  }
  const auto file = make_file(*system_, at("a"), text);
  const MappedBytes bytes =
      file->map(Bytes(0), Bytes(std::ssize(text))).value();
  EXPECT_TRUE(system_->will_need({bytes.get() + 5000, 2'500'001}).ok());
  EXPECT_TRUE(system_->will_need({bytes.get(), 0}).ok());
  EXPECT_TRUE(system_->will_need({bytes.get(), text.size()}).ok());
  EXPECT_EQ(
      std::string(reinterpret_cast<const char*>(bytes.get()), text.size()),
      text);
}

HOLDFAST_EACH_FILE_SYSTEM(WillNeed);

TEST(WillNeedOfAFaultyFileSystem, FailsWhereTheTestSaysSo) {
  FaultyFileSystem system(MemoryFileSystem::make());
  const auto file = system.create("/a").value();
  const std::string text(4096, 'x');
  ASSERT_TRUE(file->write(Bytes(0), std::as_bytes(std::span(text))).ok());
  const MappedBytes bytes = file->map(Bytes(0), Bytes(4096)).value();
  FileFault fault;
  fault.only = FileCall::kWillNeed;
  system.fail(fault);
  const Status status = system.will_need({bytes.get(), 4096});
  EXPECT_EQ(status.code(), ErrorCode::kIo);
  EXPECT_NE(system.trace().find("will need"), std::string::npos);
  EXPECT_TRUE(system.will_need({bytes.get(), 4096}).ok());
}

} // namespace
} // namespace holdfast
