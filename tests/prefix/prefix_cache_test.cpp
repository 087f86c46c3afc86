// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Rows that begin with what is known go on with the bits of a cold run: from
// RAM, and from a disk after the process that computed it is gone.

#include "holdfast/prefix/prefix_cache.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/prefix/cache_process.h"

namespace holdfast {
namespace {

using namespace test;

void expect_reuse(
    const StateOptions& options,
    bool restart,
    const std::vector<int64_t>& lengths) {
  const Sequence vectors(kLength, 11);
  const auto files = restart ? disk() : nullptr;
  auto process = std::make_unique<Process>(options, files);
  process->run(text_tokens(200), vectors);
  for (const int64_t length : lengths) {
    SCOPED_TRACE(length);
    if (restart) {
      ASSERT_TRUE(process->cache().flush().durable);
      process.reset();
      process = std::make_unique<Process>(options, files);
    }
    // A text that goes another way from `length` on.
    const auto tokens = text_tokens(250, length);
    Process cold(options);
    const auto want = cold.run(tokens, vectors);
    EXPECT_EQ(want.reused, Position(0));
    const auto got = process->run(tokens, vectors);
    EXPECT_EQ(got.reused, Position(std::min<int64_t>(length, 200)))
        << got.why.line();
    EXPECT_TRUE(same_bits(got.outputs, last(want.outputs, got.outputs.size())));
    EXPECT_EQ(restart ? got.why.from_disk : got.why.from_ram, got.reused);
  }
}

TEST(PrefixCache, RowsFromRamGoOnAsAColdRunAtAnyLength) {
  for (const char* codec : {"bf16", "q8", "t3"}) {
    expect_reuse(with_codecs(codec), false, {1, 63, 64, 65, 128, 199, 220});
  }
}

TEST(PrefixCache, RowsFromDiskGoOnAsAColdRunAfterARestart) {
  for (const char* codec : {"bf16", "q4"}) {
    expect_reuse(with_codecs(codec), true, {1, 64, 65, 199, 220});
  }
}

TEST(PrefixCache, APromptThatIsKnownWholeLeavesItsLastTokenToCompute) {
  const Sequence vectors(kLength, 12);
  Process process(options());
  const auto cold = process.run(text_tokens(130), vectors);
  const auto again = process.run(text_tokens(130), vectors);
  EXPECT_EQ(again.reused, Position(129));
  EXPECT_TRUE(
      same_bits(again.outputs, last(cold.outputs, again.outputs.size())));
}

// What a cold run would hold densely is dense: both phases are found, each at
// the lengths at which a cold run is in it.
TEST(PrefixCache, ServesEveryLengthInThePrecisionOfAColdRun) {
  const StateOptions changing = with_codecs("bf16", 100);
  const Sequence vectors(kLength, 13);
  Process process(changing);
  process.run(text_tokens(200), vectors);
  for (const int64_t length : {50, 64, 100, 101, 150, 192}) {
    SCOPED_TRACE(length);
    const auto tokens = text_tokens(230, length);
    Process cold(changing);
    const auto want = cold.run(tokens, vectors);
    const auto got = process.run(tokens, vectors);
    EXPECT_GE(got.reused, Position(length / 64 * 64)) << got.why.line();
    EXPECT_LE(got.reused, Position(length));
    EXPECT_TRUE(same_bits(got.outputs, last(want.outputs, got.outputs.size())));
  }
}

TEST(PrefixCache, WritesOnlyWhatTheDiskLacks) {
  const Sequence vectors(kLength, 14);
  const auto files = disk();
  Process process(options(), files);
  process.run(text_tokens(128), vectors);
  ASSERT_TRUE(process.cache().flush().durable);
  const Bytes first = process.cache().written();
  EXPECT_GT(first, Bytes(0));
  process.run(text_tokens(128), vectors); // nothing new
  ASSERT_TRUE(process.cache().flush().durable);
  EXPECT_EQ(process.cache().written(), first);
  process.run(text_tokens(192), vectors); // a block a group more
  ASSERT_TRUE(process.cache().flush().durable);
  EXPECT_LT(process.cache().written() - first, first);
}

TEST(PrefixCache, NothingOfAnotherSignatureIsReusedAndTheReasonNamesTheField) {
  const Sequence vectors(kLength, 15);
  const auto files = disk();
  {
    Process process(options("bf16"), files);
    process.run(text_tokens(150), vectors);
    ASSERT_TRUE(process.cache().flush().durable);
  }
  Process other(options("q8"), files);
  const Why why = other.cache().why({text_tokens(150)});
  EXPECT_EQ(why.usable, Position(0));
  EXPECT_NE(why.line().find("storage"), std::string::npos) << why.line();
}

// A budget that holds no block of the index leaves rows as they are.
TEST(PrefixCache, WithoutRoomInRamStillComputesAndServesFromDisk) {
  const Sequence vectors(kLength, 16);
  const auto files = disk();
  StateOptions small = options();
  Process process(small, files, Bytes(int64_t{1} << 22));
  const auto cold = process.run(text_tokens(200), vectors);
  (void)process.cache().flush();
  const auto again = process.run(text_tokens(200), vectors);
  EXPECT_TRUE(
      same_bits(again.outputs, last(cold.outputs, again.outputs.size())));
}

// Rows need the room that the index has: it lets go.
TEST(PrefixCache, LetsGoOfItsBlocksBeforeARowIsRefused) {
  const Sequence vectors(kLength, 17);
  StateOptions small = options();
  const auto images = State(options()).groups().image_bytes();
  small.max_bytes = Bytes(7 * (images[0] + images[1]).get());
  Process process(small);
  for (int text = 0; text < 6; ++text) {
    auto tokens = text_tokens(200);
    tokens[0] = 9000 + text; // another from the start
    EXPECT_EQ(process.run(tokens, vectors).reused, Position(0));
  }
  EXPECT_LE(process.state().peak_bytes(), small.max_bytes);
}

// A budget that the row itself fills: its full blocks are kept all the same.
TEST(PrefixCache, WithoutRoomForATailKeepsTheFullBlocks) {
  const Sequence vectors(kLength, 19);
  StateOptions small = options();
  const auto images = State(options()).groups().image_bytes();
  small.max_bytes = Bytes(3 * images[0].get() + 3 * images[1].get());
  const auto files = disk();
  {
    Process process(small, files);
    process.run(text_tokens(150), vectors);
    EXPECT_TRUE(process.cache().flush().durable);
  }
  Process later(options(), files);
  EXPECT_EQ(later.run(text_tokens(150), vectors).reused, Position(128));
}

TEST(PrefixCache, ACrashKeepsWhatAFlushSaidWasDurable) {
  const Sequence vectors(kLength, 18);
  const auto files = disk();
  auto process = std::make_unique<Process>(options(), files);
  process->run(text_tokens(150), vectors);
  ASSERT_TRUE(process->cache().flush().durable);
  const auto found = files->power_loss({});
  process.reset();
  Process later(options(), found);
  EXPECT_EQ(later.run(text_tokens(150), vectors).reused, Position(149));
}

} // namespace
} // namespace holdfast
