// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What is stored under one adapter, codec or list of layers is nothing to
// another, in RAM and on a disk after a restart, and the reason names the field
// (docs/faults.md).

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "tests/prefix/cache_process.h"
#include "tests/tier/manifest_sql.h"

namespace holdfast {
namespace {

using namespace test;

constexpr int64_t kText = 150;
constexpr Bytes kRam(int64_t{1} << 30);

std::string digest(char digit) {
  return std::string(64, digit);
}

/// Nothing is found, and `field` is why.
void expect_miss(Process& process, const std::string& field) {
  const Why why = process.cache().why({text_tokens(kText)});
  EXPECT_EQ(why.usable, Position(0)) << why.line();
  EXPECT_NE(why.line().find(field), std::string::npos) << why.line();
}

// Two adapters of one name differ in their content; none is one as well.
TEST(PrefixIdentity, B46_B47_StateOfAnotherAdapterIsNeverFound) {
  const Sequence vectors(kLength, 46);
  const std::array<std::string, 3> adapters = {"", digest('a'), digest('b')};
  const auto open = [](const auto& files, const std::string& adapter) {
    return std::make_unique<Process>(options(), files, kRam, "/state", adapter);
  };
  for (const std::string& adapter : adapters) {
    SCOPED_TRACE("put by " + adapter);
    const auto files = disk();
    auto first = open(files, adapter);
    const auto cold = first->run(text_tokens(kText), vectors);
    ASSERT_TRUE(first->cache().flush().durable);
    for (const bool restarted : {false, true}) {
      if (restarted) {
        first.reset();
      }
      for (const std::string& asking : adapters) {
        SCOPED_TRACE("asked by " + asking);
        auto other = open(files, asking);
        if (asking != adapter) {
          expect_miss(*other, "adapter");
          continue;
        }
        const auto again = other->run(text_tokens(kText), vectors);
        EXPECT_EQ(again.reused, Position(kText - 1)) << again.why.line();
        EXPECT_TRUE(
            same_bits(again.outputs, last(cold.outputs, again.outputs.size())));
      }
    }
  }
}

// One request after the other with its own adapter, in one process: its own
// state is what it gets, from RAM.
TEST(PrefixIdentity, B47_RequestsWithTwoAdaptersInTurnKeepTheirOwnState) {
  const Sequence vectors(kLength, 47);
  const auto files = disk();
  Process a(options(), files, kRam, "/state", digest('a'));
  Process b(options(), files, kRam, "/state", digest('b'));
  EXPECT_EQ(a.run(text_tokens(kText), vectors).reused, Position(0));
  EXPECT_EQ(b.run(text_tokens(kText), vectors).reused, Position(0));
  for (Process* process : {&a, &b}) {
    const auto again = process->run(text_tokens(kText), vectors);
    EXPECT_EQ(again.reused, Position(kText - 1));
    EXPECT_EQ(again.why.from_ram, again.reused);
    ASSERT_TRUE(process->cache().flush().durable);
  }
  EXPECT_EQ(a.cache().disk()->stats().value().scopes, 2);
}

// Other bits, other groups, none: each to each of the others.
TEST(PrefixIdentity, B35_StateOfAnotherCodecOnDiskIsAMissThatNamesIt) {
  const Sequence vectors(kLength, 35);
  const std::array codecs = {"bf16", "q8", "q6", "q4", "q4g32"};
  for (const std::string stored : codecs) {
    const auto files = disk();
    {
      Process process(options(stored.c_str()), files);
      process.run(text_tokens(kText), vectors);
      ASSERT_TRUE(process.cache().flush().durable);
    }
    for (const std::string asking : codecs) {
      if (asking == stored) {
        continue;
      }
      SCOPED_TRACE(stored + " for " + asking);
      Process other(options(asking.c_str()), files);
      expect_miss(other, "storage");
      // It counts, and it may go.
      EXPECT_GT(other.cache().disk()->stats().value().images.count, 0);
    }
    EXPECT_EQ(
        Process(options(stored.c_str()), files)
            .run(text_tokens(kText), vectors)
            .reused,
        Position(kText - 1));
    Process last_one(options("t3"), files);
    ASSERT_TRUE(last_one.cache().disk()->evict(kUnlimitedBytes).ok());
    EXPECT_EQ(last_one.cache().disk()->stats().value().images.count, 0);
  }
}

// One layer that is stored otherwise is enough.
TEST(PrefixIdentity, B36_StateOfALayerStoredOtherwiseOnDiskIsAMissThatNamesIt) {
  const Sequence vectors(kLength, 36);
  const auto mixed = [](int64_t layer, const char* codec) {
    StateOptions result = options("q8");
    const Codec* own = find_codec(codec).value();
    result.precision.layers[layer] = always(own, own);
    return result;
  };
  const auto files = disk();
  const StateOptions stored = mixed(1, "q4");
  {
    Process process(stored, files);
    process.run(text_tokens(kText), vectors);
    ASSERT_TRUE(process.cache().flush().durable);
  }
  for (const StateOptions& asking :
       {options("q8"), options("q4"), mixed(1, "q6"), mixed(2, "q4")}) {
    Process other(asking, files);
    expect_miss(other, "storage");
  }
  Process cold(stored);
  const auto want = cold.run(text_tokens(kText), vectors);
  Process same(stored, files);
  const auto got = same.run(text_tokens(kText), vectors);
  EXPECT_EQ(got.reused, Position(kText - 1)) << got.why.line();
  EXPECT_TRUE(same_bits(got.outputs, last(want.outputs, got.outputs.size())));
}

// A manifest that gives nodes other tokens, under checksums that are right:
// neither their images nor the texts through them are believed.
TEST(PrefixIdentity, TokensThatNodesWereNotStoredUnderAreNoStateAndNoText) {
  const Sequence vectors(kLength, 37);
  const auto files = disk();
  const NamedRecord record{.name = {"chat", "talk"}};
  {
    Process process(options(), files);
    process.run(text_tokens(kText), vectors, &record);
    ASSERT_TRUE(process.cache().flush().durable);
    EXPECT_EQ(
        process.cache().record(record.name).value().tokens, text_tokens(kText));
  }
  for (const char* sql :
       {"UPDATE nodes SET tokens = zeroblob(256) WHERE parent IS NULL",
        "UPDATE nodes SET tokens = substr(tokens, 1, 4) || tokens "
        "WHERE children = 0"}) {
    SCOPED_TRACE(sql);
    const auto changed =
        files->power_loss({.keep = PowerLoss::Keep::kEverything, .seed = 0});
    run_sql(changed, sql);
    {
      Process process(options(), changed);
      EXPECT_LE(
          process.cache().why({text_tokens(kText)}).usable, Position(128));
      const auto known = process.cache().record(record.name);
      EXPECT_EQ(known.status().code(), ErrorCode::kCorrupt);
      // The tokens that the node says it has.
      std::vector<int32_t> others(64, 0);
      others.push_back(1);
      // Only the text's own first token is a zero as well.
      EXPECT_LE(process.cache().why({others}).usable, Position(1));
      const auto cold = Process(options()).run(text_tokens(kText), vectors);
      const auto run = process.run(text_tokens(kText), vectors);
      EXPECT_TRUE(
          same_bits(run.outputs, last(cold.outputs, run.outputs.size())));
      // Rows that cannot be make the manifest set aside, and then a cache that
      // is open stores no more and says so.
      const FlushReport report = process.cache().flush();
      EXPECT_EQ(report.durable, report.failed == 0) << report.text();
    }
    {
      Process next(options(), changed);
      next.run(text_tokens(kText), vectors);
      EXPECT_TRUE(next.cache().flush().durable);
    }
    Process later(options(), changed);
    EXPECT_EQ(
        later.cache().why({text_tokens(kText)}).usable, Position(kText - 1));
  }
}

} // namespace
} // namespace holdfast
