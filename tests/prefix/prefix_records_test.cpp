// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Texts that have a name: what was put comes back, with its state, from RAM and
// from the disk; whole or not at all.

#include <gtest/gtest.h>

#include <memory>

#include "holdfast/env/faulty_file_system.h"
#include "tests/code_of.h"
#include "tests/prefix/cache_process.h"

namespace holdfast {
namespace {

using namespace test;

const RecordName kChat{"chat", "a"};

NamedRecord chat(const std::string& bytes, RecordName name = kChat) {
  NamedRecord record;
  record.name = std::move(name);
  record.body.set("tree", {.version = 3, .bytes = bytes});
  return record;
}

NamedRecord text_record(const std::string& name) {
  NamedRecord record = chat("facts", {"text", name});
  record.replaces_prefixes = true;
  return record;
}

std::vector<std::string> names(PrefixCache& cache, const char* space) {
  std::vector<std::string> result;
  const auto records = cache.records(space);
  EXPECT_TRUE(records.ok()) << records.status().text();
  for (const RecordFacts& facts : records.value()) {
    result.push_back(facts.name.name);
  }
  return result;
}

TEST(PrefixRecords, ComeBackAfterARestartWithTokensBodyAndState) {
  const Sequence vectors(kLength, 31);
  const auto files = disk();
  const auto tokens = text_tokens(150);
  {
    Process process(options(), files);
    const NamedRecord record = chat("one");
    process.run(tokens, vectors, &record);
    // Before the disk has it, it is known all the same.
    EXPECT_EQ(process.cache().record(kChat).value().body, record.body);
    ASSERT_TRUE(process.cache().flush().durable);
  }
  Process later(options(), files);
  const KnownRecord known = later.cache().record(kChat).value();
  EXPECT_EQ(known.tokens, tokens);
  EXPECT_EQ(known.body.find("tree")->bytes, "one");
  EXPECT_EQ(known.body.find("tree")->version, 3u);
  EXPECT_EQ(known.facts.version, 1u);
  EXPECT_EQ(known.facts.length, Position(150));
  EXPECT_TRUE(known.facts.on_disk);
  EXPECT_EQ(known.facts.other_scope, "");
  const Begun begun = later.cache().begin(known.path());
  EXPECT_EQ(begun.reused, Position(149));
  EXPECT_EQ(begun.why.from_disk, Position(149));
}

TEST(PrefixRecords, WithoutADiskAreKeptInRam) {
  const Sequence vectors(kLength, 32);
  Process process(options());
  const NamedRecord first = chat("one");
  process.run(text_tokens(70), vectors, &first);
  const NamedRecord second = chat("two");
  process.run(text_tokens(90), vectors, &second);
  const KnownRecord known = process.cache().record(kChat).value();
  EXPECT_EQ(known.tokens, text_tokens(90));
  EXPECT_EQ(known.body, second.body);
  EXPECT_EQ(known.facts.version, 2u);
  EXPECT_FALSE(known.facts.on_disk);
  EXPECT_FALSE(process.cache().flush().durable);
  ASSERT_TRUE(process.cache().remove_record(kChat).ok());
  EXPECT_EQ(
      process.cache().record(kChat).status().code(), ErrorCode::kNotFound);
}

TEST(PrefixRecords, EachStoreIsOneVersionMoreAlsoInAnotherProcess) {
  const auto files = disk();
  const auto tokens = text_tokens(20);
  for (uint64_t version = 1; version < 4; ++version) {
    Process process(options(), files);
    EXPECT_TRUE(process.cache().put({tokens}, chat("same")));
    EXPECT_EQ(process.cache().record(kChat).value().facts.version, version);
    ASSERT_TRUE(process.cache().flush().durable);
    EXPECT_EQ(process.cache().record(kChat).value().facts.version, version);
  }
}

// Its nodes are on disk: the record goes there alone.
TEST(PrefixRecords, AreWrittenAlsoWhereAllTheirNodesAreOnDisk) {
  const Sequence vectors(kLength, 33);
  const auto files = disk();
  Process process(options(), files);
  process.run(text_tokens(130), vectors);
  ASSERT_TRUE(process.cache().flush().durable);
  const NamedRecord record = chat("late");
  process.run(text_tokens(130), vectors, &record);
  ASSERT_TRUE(process.cache().flush().durable);
  Process later(options(), files);
  EXPECT_EQ(later.cache().record(kChat).value().tokens, text_tokens(130));
}

TEST(PrefixRecords, WithoutTokensNeedABody) {
  const auto files = disk();
  Process process(options(), files);
  NamedRecord none;
  none.name = kChat;
  EXPECT_FALSE(process.cache().put(Path{}, none));
  EXPECT_EQ(process.cache().pending().pending_records, 0);
  EXPECT_TRUE(process.cache().put(Path{}, chat("alone")));
  ASSERT_TRUE(process.cache().flush().durable);
  Process later(options(), files);
  EXPECT_EQ(later.cache().record(kChat).value().body, chat("alone").body);
  EXPECT_TRUE(later.cache().record(kChat).value().tokens.empty());
}

// Tokens whose state is known to nobody are kept as tokens.
TEST(PrefixRecords, OfTextsWithoutStateKeepTheirTokens) {
  const Sequence vectors(kLength, 34);
  const auto files = disk();
  {
    Process process(options(), files);
    process.run(text_tokens(100), vectors);
    process.cache().put({text_tokens(290)}, chat("more"));
    ASSERT_TRUE(process.cache().flush().durable);
  }
  Process later(options(), files);
  const KnownRecord known = later.cache().record(kChat).value();
  EXPECT_EQ(known.tokens, text_tokens(290));
  EXPECT_EQ(later.cache().why(known.path()).usable, Position(100));
}

TEST(PrefixRecords, KeepMarksAndFindStateUnderThemAlone) {
  const auto files = disk();
  const auto tokens = text_tokens(150);
  const std::vector<TokenMark> marks{
      {.begin = Position(10), .end = Position(12), .digest = "picture"},
      {.begin = Position(70), .end = Position(90), .bidirectional = true}};
  {
    Process process(options(), files);
    process.cache().put({tokens, marks}, chat("pictures"));
    ASSERT_TRUE(process.cache().flush().durable);
  }
  Process later(options(), files);
  const KnownRecord known = later.cache().record(kChat).value();
  ASSERT_EQ(known.marks.size(), 2u);
  EXPECT_EQ(known.marks[0].digest, "picture");
  EXPECT_EQ(known.marks[0].end, Position(12));
  EXPECT_EQ(known.marks[1].begin, Position(70));
  EXPECT_TRUE(known.marks[1].bidirectional);
  EXPECT_EQ(known.body, chat("pictures").body); // and nothing of the cache's
}

TEST(PrefixRecords, OfAnotherScopeAreReadAndNameWhatDiffers) {
  const auto files = disk();
  {
    Process process(options("bf16"), files);
    process.cache().put({text_tokens(80)}, chat("bf16"));
    ASSERT_TRUE(process.cache().flush().durable);
  }
  Process other(options("q8"), files);
  const KnownRecord known = other.cache().record(kChat).value();
  EXPECT_EQ(known.tokens, text_tokens(80));
  EXPECT_NE(known.facts.other_scope.find("storage"), std::string::npos)
      << known.facts.other_scope;
}

TEST(PrefixRecords, OfAGrowingTextAreOneEntry) {
  const Sequence vectors(kLength, 35);
  const auto files = disk();
  Process process(options(), files);
  const NamedRecord first = text_record("first");
  process.run(text_tokens(70), vectors, &first);
  const NamedRecord other = text_record("other");
  process.run(text_tokens(75, 66), vectors, &other); // goes another way
  const NamedRecord kept = chat("x", {"chat", "kept"});
  process.run(text_tokens(70), vectors, &kept); // another space
  ASSERT_TRUE(process.cache().flush().durable);
  EXPECT_EQ(
      names(process.cache(), "text"),
      (std::vector<std::string>{"first", "other"}));
  const NamedRecord second = text_record("second");
  process.run(text_tokens(200), vectors, &second);
  ASSERT_TRUE(process.cache().flush().durable);
  EXPECT_EQ(
      names(process.cache(), "text"),
      (std::vector<std::string>{"other", "second"}));
  EXPECT_EQ(names(process.cache(), "chat"), (std::vector<std::string>{"kept"}));
  // What the ancestor's leaf became still gives the others their tokens.
  EXPECT_EQ(
      process.cache().record({"text", "other"}).value().tokens,
      text_tokens(75, 66));
  EXPECT_EQ(
      process.cache().record({"chat", "kept"}).value().tokens, text_tokens(70));
}

TEST(PrefixRecords, ThatArePinnedStayWhenTheTextGrows) {
  const auto files = disk();
  Process process(options(), files);
  NamedRecord first = text_record("first");
  first.pinned = true;
  process.cache().put({text_tokens(70)}, first);
  ASSERT_TRUE(process.cache().flush().durable);
  process.cache().put({text_tokens(71)}, text_record("second"));
  first.pinned = false;
  process.cache().put({text_tokens(70)}, first); // a pin that is there stays
  ASSERT_TRUE(process.cache().flush().durable);
  EXPECT_EQ(
      names(process.cache(), "text"),
      (std::vector<std::string>{"first", "second"}));
  EXPECT_TRUE(process.cache().record({"text", "first"}).value().facts.pinned);
}

TEST(PrefixRecords, ThatAreRemovedAreGoneAndTheirStateStays) {
  const Sequence vectors(kLength, 36);
  const auto files = disk();
  Process process(options(), files);
  const NamedRecord record = chat("gone");
  process.run(text_tokens(100), vectors, &record);
  ASSERT_TRUE(process.cache().flush().durable);
  process.cache().put({text_tokens(100)}, chat("waits"));
  ASSERT_TRUE(process.cache().remove_record(kChat).ok());
  EXPECT_TRUE(names(process.cache(), "chat").empty());
  EXPECT_EQ(process.cache().pending().pending_records, 0);
  Process later(options(), files);
  EXPECT_EQ(later.cache().record(kChat).status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(later.cache().why({text_tokens(101)}).usable, Position(100));
}

TEST(PrefixRecords, AreStoredThoughAnotherProcessEvictedWhatTheyBuildOn) {
  const Sequence vectors(kLength, 42);
  const auto files = disk();
  Process process(options(), files);
  const NamedRecord first = chat("first");
  process.run(text_tokens(150), vectors, &first);
  ASSERT_TRUE(process.cache().flush().durable);
  ASSERT_TRUE(Process(options(), files).cache().disk()->forget_all().ok());
  const NamedRecord second = chat("second");
  process.cache().put({text_tokens(150)}, second);
  EXPECT_TRUE(process.cache().flush().durable);
  Process later(options(), files);
  EXPECT_EQ(later.cache().record(kChat).value().body, second.body);
  EXPECT_EQ(later.cache().begin({text_tokens(150)}).reused, Position(149));
}

TEST(PrefixRecords, WithoutRoomInRamAreRefusedBeforeAnythingChanges) {
  Process process(options(), nullptr, Bytes(1 << 20));
  const std::string much(2 << 20, 'x');
  EXPECT_EQ(
      code_of([&] { process.cache().put({text_tokens(70)}, chat(much)); }),
      ErrorCode::kOutOfBudget);
  EXPECT_FALSE(process.cache().record(kChat).ok());
  EXPECT_TRUE(process.cache().put({text_tokens(70)}, chat("less")));
}

// What waits for the disk counts in the budget, and no more once it is there.
TEST(PrefixRecords, CountInTheBudgetWhileTheyAreInRam) {
  const Sequence vectors(kLength, 40);
  const auto images = State(options()).groups().image_bytes();
  const Bytes ram(16 * (images[0] + images[1]).get());
  Process process(options(), nullptr, ram);
  process.run(text_tokens(200), vectors);
  const Bytes before = process.cache().stats().image_bytes;
  EXPECT_GT(before, Bytes(0));
  const auto much = static_cast<size_t>(ram.get() - ram.get() / 8);
  process.cache().put({text_tokens(10)}, chat(std::string(much, 'x')));
  const TreeStats stats = process.cache().stats();
  EXPECT_LE(stats.image_bytes + stats.index_bytes, Bytes(ram.get() / 8));
}

// A record's own bytes leave the budget before its state is taken, not after:
// whatever room there is, what a put says that it has goes to the disk whole.
TEST(PrefixRecords, DoNotPushOutTheStateThatTheyArePutWith) {
  const Sequence vectors(kLength, 43);
  const auto tokens = text_tokens(150);
  const NamedRecord record = chat(std::string(40000, 'x'));
  Process roomy(options());
  roomy.run(tokens, vectors);
  const TreeStats stats = roomy.cache().stats();
  const Bytes alone = stats.image_bytes + stats.index_bytes;
  Position known;
  for (int64_t more = 0; more <= 48000; more += 8000) {
    SCOPED_TRACE(more);
    const auto files = disk();
    {
      Process process(options(), files, alone + Bytes(more));
      process.run(tokens, vectors, &record);
      const FlushReport report = process.cache().flush();
      EXPECT_TRUE(report.durable) << report.text();
    }
    Process later(options(), files);
    ASSERT_TRUE(later.cache().record(kChat).ok());
    const Position usable = later.cache().why({tokens}).usable;
    EXPECT_GE(usable, known);
    known = usable;
  }
  EXPECT_EQ(known, Position(149));
}

TEST(PrefixRecords, WithoutANameOrWithPartsOfTheCacheAreRefused) {
  Process process(options());
  const auto put = [&](NamedRecord record) {
    return code_of(
        [&] { process.cache().put({text_tokens(5)}, std::move(record)); });
  };
  EXPECT_EQ(put(chat("x", {"", "a"})), ErrorCode::kInvalidArgument);
  EXPECT_EQ(put(chat("x", {"chat", ""})), ErrorCode::kInvalidArgument);
  NamedRecord hidden = chat("x");
  hidden.body.set(".marks", {.version = 1, .bytes = "y"});
  EXPECT_EQ(put(hidden), ErrorCode::kInvalidArgument);
}

// Calls of the disk fail, one a run: a record that comes back has its tokens,
// its body and all its state, and one that a flush called durable comes back.
TEST(PrefixRecordsCrash, AreThereWholeOrNotAtAllWhateverCallFails) {
  const Sequence vectors(kLength, 41);
  const auto tokens = text_tokens(140);
  int64_t acknowledged = 0;
  for (const auto kind : {FileFault::Kind::kIo, FileFault::Kind::kPowerLoss}) {
    bool any = true;
    for (int64_t call = 0; any; call += 3) {
      SCOPED_TRACE(call);
      const auto memory = disk();
      const auto faulty = std::make_shared<FaultyFileSystem>(memory);
      bool durable = false;
      {
        Process process(options(), faulty);
        faulty->fail({.kind = kind, .after = call});
        const NamedRecord record = chat("whole");
        process.run(tokens, vectors, &record);
        durable = process.cache().flush({.until = {}, .last = true}).durable;
      }
      any = faulty->failed() > 0;
      Process later(options(), memory->power_loss({}));
      const Result<KnownRecord> known = later.cache().record(kChat);
      if (durable) {
        ++acknowledged;
        ASSERT_TRUE(known.ok()) << known.status().text();
      }
      if (known.ok()) {
        EXPECT_EQ(known.value().tokens, tokens);
        EXPECT_EQ(known.value().body, chat("whole").body);
        EXPECT_EQ(later.cache().begin({tokens}).reused, Position(139));
      }
    }
  }
  EXPECT_GT(acknowledged, 0);
}

} // namespace
} // namespace holdfast
