// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A text goes on from a conversation's file with the bits of a run that never
// left, for every family and every codec that fits it.

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/env/manual_clock.h"
#include "holdfast/env/memory_file_system.h"
#include "holdfast/prefix/conversation.h"
#include "holdfast/prefix/prefix_cache.h"
#include "tests/models/folder_rig.h"

namespace holdfast {
namespace {

using test::expected_of;
using test::FolderRig;
using test::same_bits;
using Tokens = std::vector<int32_t>;

/// A machine: a model with its state, and a folder of its own.
struct Machine {
  Machine(const std::string& family, const test::RigChoice& choice)
      : rig(family, choice),
        disk(DiskTier::open({.folder = "/state",
                             .files = files,
                             .clock = std::make_shared<ManualClock>()})
                 .value()) {}

  PrefixCache& start() {
    PrefixCacheOptions options;
    options.disk = disk;
    cache = std::make_unique<PrefixCache>(rig.state, std::move(options));
    return *cache;
  }
  /// Computes a text, and stores what is needed to go on.
  void compute(const Tokens& tokens) {
    start();
    const RowId row = rig.state.add_row();
    rig.state.keep_sealed(row, true);
    rig.append(row, tokens, 0, 37);
    cache->put(row, {tokens});
    ASSERT_TRUE(cache->flush().durable);
    rig.state.remove_row(row);
  }
  /// Logits of what is not known of the text.
  std::vector<float> go_on(const Tokens& tokens, Position& reused) {
    const Begun begun = start().begin({tokens});
    reused = begun.reused;
    why = begun.why.line();
    return rig.append(begun.row, tokens, reused.get(), 29);
  }

  FolderRig rig;
  std::shared_ptr<MemoryFileSystem> files = MemoryFileSystem::make();
  std::shared_ptr<DiskTier> disk;
  std::unique_ptr<PrefixCache> cache;
  std::string why;
};

struct Case {
  const char* family;
  const Codec* codec;
};

class Conversations : public testing::TestWithParam<Case> {};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* family : test::kFamilies) {
    for (const Codec* codec : all_codecs()) {
      all.push_back({family, codec});
    }
  }
  return all;
}

/// Why the codec cannot store the family's layers; empty where it can.
std::string refused(const Case& of) {
  try {
    const FolderRig rig(of.family, {.codec = of.codec->name()});
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    return error.what();
  }
}

TEST_P(Conversations, GoOnFromAFileWithTheBitsOfARunThatNeverLeft) {
  const Case& of = GetParam();
  if (const std::string why = refused(of); !why.empty()) {
    EXPECT_THAT(why, testing::HasSubstr("layer"));
    return; // no state of this codec exists
  }
  const auto tokens = expected_of(of.family).tokens; // 150
  const test::RigChoice choice{.codec = of.codec->name()};
  const auto want = FolderRig(of.family, choice).alone(tokens, 150);
  for (const int64_t length : {5, 64, 100, 128}) {
    SCOPED_TRACE(length);
    const Tokens begin(tokens.begin(), tokens.begin() + length);
    Machine first(of.family, choice);
    first.compute(begin);
    const int level = length == 100 ? 3 : 0;
    first.cache->export_prefix({begin}, {first.files, "/talk", level}).value();
    const auto file = ConversationReader::open(*first.files, "/talk").value();

    Machine second(of.family, choice);
    const auto imported = import_conversation(
                              *second.disk,
                              *file,
                              Scope(second.rig.state.signature()),
                              second.rig.state.groups(),
                              {.name = {"chat", "talk"}})
                              .value();
    EXPECT_EQ(imported.imported.tokens, Position(length));
    EXPECT_FALSE(imported.admission.foreign);
    Position reused;
    const auto got = second.go_on(tokens, reused);
    EXPECT_EQ(reused, Position(length)) << second.why;
    EXPECT_TRUE(same_bits(
        got, {want.begin() + reused.get() * first.rig.vocab(), want.end()}));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Conversations,
    testing::ValuesIn(cases()),
    [](const auto& info) {
      return std::string(info.param.family) + "_" + info.param.codec->name();
    });

} // namespace
} // namespace holdfast
