// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a conversation's file may be imported as, and what of it is used.

#include "holdfast/prefix/conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "holdfast/env/manual_clock.h"
#include "holdfast/env/memory_file_system.h"
#include "holdfast/prefix/prefix_cache.h"
#include "tests/state/layers.h"

namespace holdfast {
namespace {

using namespace test;
using testing::HasSubstr;

constexpr int64_t kTokens = 200;

std::vector<int32_t> counted(int64_t count) {
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

StateOptions changing(int64_t start) {
  StateOptions result = options("bf16");
  const Codec* later = find_codec("q4").value();
  result.precision.phases.push_back(
      {.keys = later, .values = later, .start = Position(start)});
  return result;
}

/// As if another machine had computed it: its signature says other kernels.
StateOptions elsewhere() {
  StateOptions result = options("bf16");
  result.runtime.path = result.runtime.path == KernelPath::kPlain
      ? KernelPath::kAvx2
      : KernelPath::kPlain;
  return result;
}

class Machine {
 public:
  explicit Machine(const StateOptions& options)
      : state_(options),
        disk_(DiskTier::open({.folder = "/state",
                              .files = files_,
                              .clock = std::make_shared<ManualClock>()})
                  .value()) {
    start();
  }
  void start() {
    PrefixCacheOptions with;
    with.disk = disk_;
    cache_.reset();
    cache_ = std::make_unique<PrefixCache>(state_, std::move(with));
  }
  /// Outputs of what is not known.
  std::vector<float>
  run(const std::vector<int32_t>& tokens, const Sequence& vectors) {
    const Begun begun = cache_->begin({tokens});
    reused_ = begun.reused;
    why_ = begun.why;
    std::vector<float> all;
    const auto size = std::ssize(tokens);
    while (state_.length(begun.row) < Position(size)) {
      const int64_t done = state_.length(begun.row).get();
      const int64_t count =
          std::min({int64_t{70}, size - done, state_.max_append(begun.row)});
      const auto out = append_to(state_, begun.row, {&vectors, done, count});
      all.insert(all.end(), out.begin(), out.end());
      cache_->grew(
          begun.row,
          {std::span(tokens).first(static_cast<size_t>(done + count))});
    }
    cache_->put(begun.row, {tokens});
    state_.remove_row(begun.row);
    return all;
  }
  std::unique_ptr<ConversationReader> exported(int64_t length) {
    cache_->export_prefix({counted(length)}, {files_, "/talk", 0}).value();
    return ConversationReader::open(*files_, "/talk").value();
  }
  Result<ImportResult>
  import(const ConversationReader& file, bool foreign = false) {
    return import_conversation(
        *disk_,
        file,
        Scope(state_.signature()),
        state_.groups(),
        {.name = {"chat", "talk"}, .foreign_bits = foreign});
  }

  State state_;
  std::shared_ptr<MemoryFileSystem> files_ = MemoryFileSystem::make();
  std::shared_ptr<DiskTier> disk_;
  std::unique_ptr<PrefixCache> cache_;
  Position reused_;
  Why why_;
};

TEST(Conversation, GoesOnInAnyPrecisionAtItsLength) {
  const Sequence vectors(300, 21);
  for (const int64_t length : {64, 99, 100, 130, 200}) {
    SCOPED_TRACE(length);
    Machine first(changing(100));
    first.run(counted(length), vectors);
    const auto file = first.exported(length);
    Machine cold(changing(100));
    const auto want = cold.run(counted(250), vectors);
    Machine second(changing(100));
    ASSERT_TRUE(second.import(*file).ok());
    second.start();
    const auto got = second.run(counted(250), vectors);
    EXPECT_EQ(second.reused_, Position(length)) << second.why_.line();
    EXPECT_EQ(second.why_.from_disk, Position(length));
    EXPECT_TRUE(same_bits(
        got, {want.end() - static_cast<int64_t>(got.size()), want.end()}));
  }
}

// A window's blocks that no query sees any more are not in the file.
TEST(Conversation, HoldsWhatARowOfItsLengthHoldsAndNoMore) {
  const Sequence vectors(300, 22);
  Machine machine(options("bf16"));
  machine.run(counted(kTokens), vectors);
  const auto file = machine.exported(kTokens);
  const Conversation& what = file->content();
  ASSERT_EQ(what.nodes.size(), 4u);
  EXPECT_EQ(what.tokens(), counted(kTokens));
  std::vector<size_t> images;
  for (const ConversationNode& node : what.nodes) {
    images.push_back(node.images.size());
  }
  EXPECT_EQ(images, (std::vector<size_t>{1, 1, 2, 2})); // 200 - 20 = 180
}

TEST(Conversation, ATextOfWhichNothingIsKnownIsNotExported) {
  Machine machine(options("bf16"));
  const auto none = machine.cache_->export_prefix(
      {counted(10)}, {machine.files_, "/talk", 0});
  EXPECT_EQ(none.status().code(), ErrorCode::kNotFound);
  EXPECT_FALSE(machine.files_->facts("/talk").ok());
}

TEST(Conversation, OfAnotherSignatureIsRefusedNamingTheField) {
  const Sequence vectors(300, 23);
  Machine first(options("q8"));
  first.run(counted(kTokens), vectors);
  const auto file = first.exported(kTokens);
  for (const bool foreign : {false, true}) {
    Machine second(options("bf16"));
    const auto refused = second.import(*file, foreign);
    EXPECT_EQ(refused.status().code(), ErrorCode::kUnsupported);
    EXPECT_THAT(refused.status().text(), HasSubstr("layer 0 storage"));
    EXPECT_EQ(second.disk_->stats().value().nodes, 0);
  }
}

TEST(Conversation, OfAnotherKernelPathIsKeptApartWhereThatIsAsked) {
  const Sequence vectors(300, 24);
  Machine first(elsewhere());
  first.run(counted(kTokens), vectors);
  const auto file = first.exported(kTokens);
  Machine second(options("bf16"));
  const auto refused = second.import(*file);
  EXPECT_EQ(refused.status().code(), ErrorCode::kUnsupported);
  EXPECT_THAT(refused.status().text(), HasSubstr("kernels"));
  EXPECT_THAT(refused.status().text(), HasSubstr("foreign"));

  const auto imported = second.import(*file, true).value();
  ASSERT_TRUE(imported.admission.foreign);
  EXPECT_EQ(imported.admission.foreign->origin, file->digest().hex());
  second.start();
  second.run(counted(250), vectors);
  EXPECT_EQ(second.reused_, Position(0)); // never mixed with ours

  StateOptions asked = options("bf16");
  asked.identity.push_back(
      {std::string(kForeignField), imported.admission.foreign->text()});
  Machine third(asked);
  EXPECT_EQ(
      Scope(third.state_.signature()).text(), imported.admission.scope.text());
  ASSERT_TRUE(third.import(*file, true).ok());
  third.start();
  third.run(counted(250), vectors);
  EXPECT_EQ(third.reused_, Position(kTokens)) << third.why_.line();
}

TEST(Conversation, OfAnotherTenantIsRefused) {
  const Sequence vectors(300, 25);
  Machine first(options("bf16"));
  first.run(counted(kTokens), vectors);
  const auto file = first.exported(kTokens);
  const auto refused = import_conversation(
      *first.disk_,
      *file,
      Scope(first.state_.signature(), "", "salt"),
      first.state_.groups(),
      {.name = {"chat", "talk"}, .foreign_bits = true});
  EXPECT_EQ(refused.status().code(), ErrorCode::kUnsupported);
  EXPECT_THAT(refused.status().text(), HasSubstr("tenant"));
}

// State that is whole at its length alone serves no shorter text.
TEST(Conversation, StateThatIsWholeFromALengthOnServesNoShorterText) {
  StateOptions foreign = options("bf16");
  const ForeignBits bits{std::string(64, 'a'), Position(150)};
  foreign.identity.push_back({std::string(kForeignField), bits.text()});
  const Sequence vectors(300, 26);
  Machine machine(foreign);
  machine.run(counted(kTokens), vectors);
  const Why shorter = machine.cache_->why({counted(140)});
  EXPECT_EQ(shorter.usable, Position(0));
  EXPECT_EQ(shorter.gap, Why::Gap::kForeign);
  EXPECT_THAT(shorter.line(), HasSubstr("another engine"));
  const Begun longer = machine.cache_->begin({counted(160)});
  EXPECT_EQ(longer.reused, Position(159));
  EXPECT_EQ(machine.state_.reusable_floor(longer.row), Position(150));
  EXPECT_EQ(
      machine.state_.reusable_length(longer.row, Position(149)), Position(0));
  EXPECT_THROW(machine.state_.trim(longer.row, Position(149)), Error);
  machine.state_.trim(longer.row, Position(150));
  machine.state_.trim(longer.row, Position(0));
  EXPECT_EQ(machine.state_.reusable_floor(longer.row), Position(0));
}

// Whoever wrote it: a folder may hold an image of another size under the right
// scope, and nobody reads behind its end.
TEST(Conversation, AnImageOfAnotherSizeOnDiskIsNeverUsed) {
  const Sequence vectors(300, 27);
  Machine machine(options("bf16"));
  BlockPool pool({Bytes(4096)});
  StoreBatch batch;
  batch.scope =
      machine.disk_->scope({Scope(machine.state_.signature()).text()}).value();
  NodeToStore& node = batch.nodes.emplace_back();
  node.tokens = counted(64);
  for (const int32_t group : {0, 1}) {
    BlockRef block = pool.allocate(0);
    block.seal();
    node.images.push_back({{group, 0}, block, {}});
  }
  machine.disk_->store(batch).value();
  machine.start();
  Machine cold(options("bf16"));
  const auto want = cold.run(counted(100), vectors);
  const auto got = machine.run(counted(100), vectors);
  EXPECT_EQ(machine.reused_, Position(0));
  EXPECT_TRUE(same_bits(got, want));
}

TEST(ForeignBits, OnlyWhatTextGivesIsParsed) {
  const ForeignBits bits{std::string(64, 'b'), Position(7)};
  EXPECT_EQ(ForeignBits::parse(bits.text()), bits);
  const std::string hex(64, 'b');
  const std::string no_hex(64, 'g');
  for (const std::string& text :
       {std::string(),
        hex,
        hex + ", whole from ",
        hex + ", whole from -1",
        hex + ", whole from 07",
        hex + ", whole from 7 ",
        no_hex + ", whole from 7"}) {
    EXPECT_FALSE(ForeignBits::parse(text)) << text;
  }
}

} // namespace
} // namespace holdfast
