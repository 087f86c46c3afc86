// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The RAM budget over everything that a cache holds: blocks, tails, snapshots,
// what waits to be written; and who stays in it longer.

#include <gtest/gtest.h>

#include <vector>

#include "holdfast/env/faulty_file_system.h"
#include "tests/prefix/cache_process.h"

namespace holdfast {
namespace {

using namespace test;

/// Images of one block in all groups.
int64_t block_bytes() {
  int64_t sum = 0;
  for (const Bytes bytes : State(options()).groups().image_bytes()) {
    sum += bytes.get();
  }
  return sum;
}

/// Another text for every number; the first 70 tokens are common to all.
std::vector<int32_t> chat(int32_t number, int64_t length) {
  std::vector<int32_t> tokens = text_tokens(length);
  for (int64_t i = 70; i < length; ++i) {
    tokens[static_cast<size_t>(i)] += number * 1000;
  }
  return tokens;
}

Bytes counted(Process& process) {
  const TreeStats stats = process.cache().stats();
  return stats.image_bytes + stats.index_bytes;
}

TEST(PrefixBudget, CoversBlocksTailsAndWhatCannotBeWritten) {
  const Sequence vectors(kLength, 61);
  const Bytes ram(9 * block_bytes());
  const auto faulty = std::make_shared<FaultyFileSystem>(disk());
  Process process(options(), faulty, ram);
  faulty->fail(
      {.kind = FileFault::Kind::kOutOfBudget,
       .once = false,
       .only = FileCall::kCreate});
  for (int32_t number = 0; number < 12; ++number) {
    process.run(chat(number, 100 + 15 * number), vectors);
    ASSERT_LE(counted(process), ram);
    // No row is left: what the queue holds is what the index holds.
    ASSERT_LE(process.state().bytes(), ram);
    process.cache().check();
  }
  const FlushReport full = process.cache().flush();
  EXPECT_FALSE(full.durable);
  EXPECT_GT(full.failed + full.missing, 0);
  // With room again the newest goes to the disk whole.
  faulty->heal();
  process.run(chat(11, 265), vectors);
  EXPECT_GT(process.cache().flush().flushed, 0);
  EXPECT_LE(counted(process), ram);
  EXPECT_LE(process.state().bytes(), ram);
}

TEST(PrefixBudget, CountsABlockOnceHoweverManyTextsShareIt) {
  const Sequence vectors(kLength, 62);
  Process process(options());
  for (int32_t number = 0; number < 5; ++number) {
    process.run(chat(number, 128), vectors);
  }
  // One common block, and one of each.
  EXPECT_EQ(process.cache().stats().image_bytes, Bytes(6 * block_bytes()));
  EXPECT_EQ(process.state().bytes(), Bytes(6 * block_bytes()));
}

TEST(PrefixBudget, LetsGoOfASnapshotsTailWithItsText) {
  const Sequence vectors(kLength, 63);
  Process process(options(), nullptr, Bytes(4 * block_bytes()));
  for (int32_t number = 0; number < 20; ++number) {
    process.run(chat(number, 80 + number), vectors); // a block and a tail
    ASSERT_LE(process.state().bytes(), Bytes(4 * block_bytes()));
  }
  EXPECT_GT(process.cache().stats().lost_images, 10);
  EXPECT_EQ(process.cache().why({chat(19, 99)}).usable, Position(98));
}

TEST(PrefixBudget, APinnedTextStaysUntilItIsUnpinned) {
  const Sequence vectors(kLength, 64);
  Process process(options(), nullptr, Bytes(6 * block_bytes()));
  process.run(chat(0, 140), vectors);
  const auto pinned = process.cache().pin({chat(0, 140)});
  ASSERT_TRUE(pinned);
  const auto crowd = [&](int32_t first) {
    for (int32_t number = first; number < first + 8; ++number) {
      process.run(chat(number, 140), vectors);
    }
  };
  crowd(1);
  EXPECT_EQ(process.cache().why({chat(0, 140)}).usable, Position(139));
  EXPECT_TRUE(process.cache().unpin(*pinned));
  crowd(20);
  EXPECT_LT(process.cache().why({chat(0, 140)}).usable, Position(139));
  EXPECT_FALSE(process.cache().pin({chat(0, 140)}));
  EXPECT_FALSE(process.cache().pin({chat(99, 140)}));
}

TEST(PrefixBudget, APriorityLastsWhileTheChatGrows) {
  const Sequence vectors(kLength, 65);
  Process process(options(), nullptr, Bytes(8 * block_bytes()));
  process.run(chat(0, 130), vectors);
  EXPECT_TRUE(process.cache().keep({chat(0, 130)}, {.priority = 8}));
  EXPECT_FALSE(process.cache().keep({chat(99, 130)}, {.priority = 8}));
  process.run(chat(0, 190), vectors); // a turn that says nothing of it
  for (int32_t number = 1; number < 12; ++number) {
    process.run(chat(number, 190), vectors);
  }
  EXPECT_EQ(process.cache().why({chat(0, 190)}).usable, Position(189));
}

} // namespace
} // namespace holdfast
