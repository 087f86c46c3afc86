// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A cache and its disk: uses that the disk hears of, what its state would cost,
// a disk that fails before a prompt, and RAM while something is being written.

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/code_of.h"
#include "tests/env/stuck_file_system.h"
#include "tests/prefix/cache_process.h"

namespace holdfast {
namespace {

using namespace test;

/// The nodes that the disk has.
class Nodes : public TierVisitor {
 public:
  static std::vector<StoredNode> of(DiskTier& disk) {
    Nodes nodes;
    EXPECT_TRUE(disk.load(nodes).ok());
    return nodes.nodes_;
  }
  void begin() override {
    nodes_.clear();
  }
  void scope(ScopeId, const ScopeText&) override {}
  void node(StoredNode node) override {
    nodes_.push_back(std::move(node));
  }
  void record(StoredRecord) override {}

 private:
  std::vector<StoredNode> nodes_;
};

/// Another text for every number.
std::vector<int32_t> text(int32_t number, int64_t length = 130) {
  std::vector<int32_t> tokens = text_tokens(length);
  for (int32_t& token : tokens) {
    token += number * 1000;
  }
  return tokens;
}

TEST(DiskUse, APrefixThatWasRestoredOutlivesANewerOneThatNobodyUsed) {
  const Sequence vectors(kLength, 71);
  const auto files = disk();
  {
    Process first(options(), files);
    for (const int32_t number : {1, 2}) {
      first.run(text(number), vectors);
      ASSERT_TRUE(first.cache().flush().durable);
    }
  }
  {
    Process second(options(), files);
    for (int use = 0; use < 3; ++use) {
      const Begun begun = second.cache().begin({text(1)});
      EXPECT_EQ(begun.why.from_disk, Position(129));
      second.state().remove_row(begun.row);
    }
  } // what it used is remembered with its end
  Process third(options(), files);
  Position before;
  do { // until one of the two has lost something
    ASSERT_TRUE(third.cache().disk()->evict(Bytes(1)).ok());
    Process later(options(), files);
    before = later.cache().why({text(1)}).usable;
    if (later.cache().why({text(2)}).usable < Position(129)) {
      break;
    }
  } while (before == Position(129));
  EXPECT_EQ(before, Position(129));
}

// A token costs what the tier takes for one, and more the deeper it is.
TEST(DiskUse, NodesSayWhatTheirTokensCostToComputeAgain) {
  const Sequence vectors(kLength, 72);
  const auto files = disk();
  Process process(options(), files);
  process.run(text(1, 200), vectors);
  ASSERT_TRUE(process.cache().flush().durable);
  std::vector<int64_t> costs;
  for (const StoredNode& node : Nodes::of(*process.cache().disk())) {
    costs.push_back(node.cost);
  }
  // tokens x 1 ms x (1 + end / 32768)
  EXPECT_EQ(
      costs, (std::vector<int64_t>{64125000, 64250000, 64375000, 8048828}));
}

TEST(DiskUse, ADiskThatFailsBeforeAPromptIsAMissThatIsCounted) {
  const Sequence vectors(kLength, 73);
  bool failed = true;
  for (int64_t call = 0; failed; ++call) {
    SCOPED_TRACE(call);
    const auto memory = disk();
    const auto faulty = std::make_shared<FaultyFileSystem>(memory);
    Process process(options(), faulty);
    Process other(options(), memory);
    other.run(text(1), vectors);
    ASSERT_TRUE(other.cache().flush().durable);
    faulty->fail({.after = call, .once = false});
    const Begun begun = process.cache().begin({text(1)});
    failed = faulty->failed() > 0;
    EXPECT_TRUE(failed || begun.reused == Position(129));
    EXPECT_TRUE(call > 0 || process.cache().stats().failed_reads == 1);
    process.state().remove_row(begun.row);
    faulty->heal();
    // It goes on, and what other processes stored is found in the end.
    const auto cold = process.run(text(1), vectors);
    EXPECT_EQ(last(cold.outputs, 1).size(), 1u);
    process.cache().check();
  }
}

TEST(DiskUse, WhatWasBeingWrittenLeavesOnceItIsThere) {
  const Sequence vectors(kLength, 74);
  const auto stuck = std::make_shared<StuckFileSystem>(disk());
  Process process(options(), stuck);
  stuck->stick();
  process.run(text(1), vectors);
  stuck->await_waiter();
  const Bytes index = process.cache().stats().index_bytes;
  process.cache().set_budget(index + index);
  EXPECT_GT(process.cache().stats().image_bytes, Bytes(0)); // it is in use
  stuck->let_go();
  ASSERT_TRUE(process.cache().flush().durable);
  const TreeStats stats = process.cache().stats();
  EXPECT_EQ(stats.image_bytes, Bytes(0));
  EXPECT_EQ(stats.lost_images, 0);
  EXPECT_EQ(process.cache().begin({text(1)}).why.from_disk, Position(129));
}

// Each was on disk once.
TEST(DiskUse, TextsThatDoNotFitOnTheDiskTogetherAreNotDurableByAFlush) {
  const Sequence vectors(kLength, 79);
  const auto faulty = std::make_shared<FaultyFileSystem>(disk());
  State state(options());
  PrefixCacheOptions with;
  with.disk = DiskTier::open({.folder = "/state",
                              .max_bytes = Bytes(int64_t{3} << 20),
                              .files = faulty,
                              .clock = std::make_shared<ManualClock>()})
                  .value();
  PrefixCache cache(state, with);
  faulty->fail({.once = false, .only = FileCall::kCreate});
  const auto put = [&](int32_t number) {
    const std::vector<int32_t> tokens = text(number);
    const RowId row = cache.begin({tokens}).row;
    append_to(state, row, {&vectors, 0, 130});
    cache.put(row, {tokens});
    state.remove_row(row);
  };
  for (int32_t number = 0; number < 20; ++number) {
    put(number);
  }
  EXPECT_FALSE(cache.flush().durable);
  faulty->heal();
  const FlushReport report = cache.flush(); // before the next try is due
  EXPECT_EQ(report.pending, 0);
  EXPECT_EQ(report.failed_now, 0);
  EXPECT_GT(report.missing, 0);
  EXPECT_FALSE(report.durable);
  put(30);
  EXPECT_TRUE(cache.flush().durable) << "it fits";
  cache.check();
}

// One that took the other's place would be durable without it.
TEST(DiskUse, OfTwoTextsThatDifferInTheirMediaAloneNoneIsForgottenByAFlush) {
  const Sequence vectors(kLength, 78);
  const auto stuck = std::make_shared<StuckFileSystem>(disk());
  Process process(options(), stuck);
  PrefixCache& cache = process.cache();
  const std::vector<int32_t> tokens = text(1);
  std::vector<std::vector<TokenMark>> media;
  std::vector<RowId> rows;
  for (const char* digest : {"a", "b"}) {
    media.push_back(
        {{.begin = Position(70),
          .end = Position(90),
          .bidirectional = false,
          .digest = digest}});
    rows.push_back(cache.begin({tokens, media.back()}).row);
    append_to(process.state(), rows.back(), {&vectors, 0, 130});
  }
  stuck->stick();
  for (size_t i = 0; i < rows.size(); ++i) {
    cache.put(rows[i], {tokens, media[i]});
    process.state().remove_row(rows[i]);
  }
  EXPECT_EQ(cache.pending().pending_records, 2);
  stuck->let_go();
  EXPECT_TRUE(cache.flush().durable);
  Process later(options(), stuck);
  for (const auto& each : media) {
    EXPECT_EQ(later.cache().why({tokens, each}).usable, Position(129));
  }
}

TEST(DiskUse, ABudgetMayBeMovedWhileTextsAreKept) {
  const Sequence vectors(kLength, 75);
  Process process(options());
  process.run(text(1), vectors);
  const TreeStats full = process.cache().stats();
  process.cache().set_budget(full.index_bytes);
  EXPECT_EQ(process.cache().stats().image_bytes, Bytes(0));
  process.run(text(2), vectors);
  EXPECT_EQ(process.cache().why({text(2)}).usable, Position(0));
  process.cache().set_budget(full.index_bytes + full.image_bytes);
  process.run(text(2), vectors);
  EXPECT_EQ(process.cache().why({text(2)}).usable, Position(129));
  EXPECT_EQ(
      code_of([&] { process.cache().set_budget(Bytes(-1)); }),
      ErrorCode::kInvalidArgument);
}

// On a disk that never takes anything texts whose state is gone do not pile up.
TEST(DiskUse, TextsWhoseStateIsGoneTakeABoundedShareOfTheBudget) {
  const Sequence vectors(kLength, 77);
  const auto faulty = std::make_shared<FaultyFileSystem>(disk());
  Bytes block;
  for (const Bytes bytes : State(options()).groups().image_bytes()) {
    block += bytes;
  }
  const Bytes ram = block + block;
  Process process(options(), faulty, ram);
  faulty->fail(
      {.kind = FileFault::Kind::kOutOfBudget,
       .once = false,
       .only = FileCall::kCreate});
  for (int32_t number = 0; number < 60; ++number) {
    process.run(text(number), vectors);
    EXPECT_FALSE(process.cache().flush().durable);
    ASSERT_LE(process.cache().pending().token_bytes, Bytes(ram.get() / 8));
  }
  EXPECT_GT(process.cache().stats().given_up, 0);
  EXPECT_LT(process.cache().pending().pending_records, 60);
}

// A turn of a chat whose next prompt parts where the last one ended, as where
// what the model thought is left out: what RAM has serves up to there.
TEST(DiskUse, ATurnThatPartsAtThePromptsEndReusesThePrompt) {
  StateOptions both = options();
  const Sequence vectors(kLength, 76);
  for (const int64_t prompt : {100, 128, 131}) {
    for (const int64_t reply : {10, 100, 160}) {
      SCOPED_TRACE(testing::Message() << prompt << " + " << reply);
      Process process(both);
      process.run(text_tokens(prompt + reply), vectors);
      std::vector<int32_t> next = text_tokens(kLength, prompt);
      EXPECT_EQ(process.cache().why({next}).usable, Position(prompt));
    }
  }
}

} // namespace
} // namespace holdfast
