// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Rows that begin with what is known go on with the bits of a cold run: from
// RAM, and from a disk after the process that computed it is gone.

#include "holdfast/prefix/prefix_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "holdfast/env/manual_clock.h"
#include "holdfast/env/memory_file_system.h"
#include "tests/state/layers.h"

namespace holdfast {
namespace {

using namespace test;

constexpr int64_t kLength = 300;

/// Token i of a text is its position, or beyond `fork` another.
std::vector<int32_t> text_tokens(int64_t count, int64_t fork = kLength) {
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  std::iota(tokens.begin(), tokens.end(), 0);
  for (int64_t i = fork; i < count; ++i) {
    tokens[static_cast<size_t>(i)] += 5000;
  }
  return tokens;
}

StateOptions with_codecs(const char* first, int64_t start = 0) {
  StateOptions result = options(first);
  if (start > 0) {
    const Codec* later = find_codec("q4").value();
    result.precision.phases.push_back(
        {.keys = later, .values = later, .start = Position(start)});
  }
  return result;
}

/// A process: its state and its cache, over a folder or none.
class Process {
 public:
  explicit Process(
      const StateOptions& options,
      std::shared_ptr<MemoryFileSystem> files = nullptr,
      Bytes ram = Bytes(int64_t{1} << 30))
      : state_(options) {
    PrefixCacheOptions with;
    with.ram = ram;
    if (files) {
      with.disk = DiskTier::open({.folder = "/state",
                                  .files = files,
                                  .clock = std::make_shared<ManualClock>()})
                      .value();
    }
    cache_ = std::make_unique<PrefixCache>(state_, std::move(with));
  }

  struct Run {
    Position reused;
    std::vector<float> outputs; // of the tokens that were computed
    Why why;
  };
  /// Computes what of the text is not known, in chunks; keeps it.
  Run run(const std::vector<int32_t>& tokens, const Sequence& vectors) {
    const Begun begun = cache_->begin({tokens});
    Run result{begun.reused, {}, begun.why};
    const auto size = std::ssize(tokens);
    while (state_.length(begun.row) < Position(size)) {
      const int64_t done = state_.length(begun.row).get();
      const int64_t count =
          std::min({int64_t{90}, size - done, state_.max_append(begun.row)});
      const auto out = append_to(state_, begun.row, {&vectors, done, count});
      result.outputs.insert(result.outputs.end(), out.begin(), out.end());
      cache_->grew(
          begun.row,
          {std::span(tokens).first(static_cast<size_t>(done + count))});
    }
    cache_->put(begun.row, {tokens});
    state_.remove_row(begun.row);
    return result;
  }
  PrefixCache& cache() {
    return *cache_;
  }
  State& state() {
    return state_;
  }

 private:
  State state_;
  std::unique_ptr<PrefixCache> cache_;
};

std::vector<float> last(const std::vector<float>& all, size_t count) {
  return {all.end() - static_cast<int64_t>(count), all.end()};
}

std::shared_ptr<MemoryFileSystem> disk() {
  return MemoryFileSystem::make();
}

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
