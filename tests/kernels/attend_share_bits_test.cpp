// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Rows that share blocks give the bits of rows that hold copies: forks, forks
// of forks, drafts, prefilling rows and strangers in one batch.

#include "tests/kernels/attend_player.h"
#include "tests/sanitized.h"

namespace holdfast::cpu {
namespace {

/// A trunk of four splits and a part, two forks of it, of which one grows by
/// two splits and is forked twice, and a stranger; some steps of them all. Two
/// rows have bidirectional spans in what these append.
std::vector<PlayedRow>
play_tree(const AttendSetup& setup, Player::Blocks blocks) {
  constexpr int64_t kTrunk = 1090;
  Player player(setup);
  player.add_row(1);
  player.fill(0, kTrunk);
  player.fork_row(0, 2, blocks);
  player.fork_row(0, 3, blocks);
  player.fill(2, kTrunk + 600);
  player.fork_row(2, 4, blocks);
  player.fill(2, kTrunk + 1300);
  player.add_row(5);
  player.fill(4, kTrunk);
  player.fork_row(2, 6, blocks);
  const auto span = [](int64_t begin, int64_t end) {
    return BidirectionalSpan{Position(begin), Position(end)};
  };
  player.row(1).spans = {span(1092, 1096), span(1100, 1130)};
  player.row(4).spans = {span(1095, 1120)};
  player.step({{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}});
  player.step({{5, 3}, {2, 1}, {3, 2}, {4, 40}, {0, 1}, {1, 5}});
  player.step({{1, 40}, {2, 1}, {0, 1}, {3, 1}});
  std::vector<PlayedRow> rows;
  for (int64_t r = 0; r < 6; ++r) {
    rows.push_back(player.row(r));
  }
  return rows;
}

void expect_same_bits(
    const std::vector<PlayedRow>& a,
    const std::vector<PlayedRow>& b,
    const std::string& what) {
  for (size_t r = 0; r < a.size(); ++r) {
    ASSERT_GE(a[r].outputs.size(), 3u);
    ASSERT_EQ(a[r].outputs.size(), b[r].outputs.size());
    EXPECT_TRUE(same_bits(a[r], b[r])) << "row " << r << ", " << what;
  }
}

constexpr Visibility kVisibilities[] = {
    {},
    {.window = 512, .sinks = 0}, // whole splits of it are shared
    {.window = 700, .sinks = 4},
    {.window = 600, .sinks = 300},
    {.window = 64, .sinks = 0}};

TEST(AttendShare, GivesTheSameBitsForEveryCodecAndVisibility) {
  int codecs = 0;
  for (const Codec* codec : all_codecs()) {
    if (codecs++ % (test::kSanitized ? 5 : 1) != 0) {
      continue; // a fifth, of each kind one
    }
    for (const Visibility& visibility : kVisibilities) {
      AttendSetup setup{
          .spec = small_spec(4, 1, 64), .keys = codec, .values = codec};
      if (!supports_attend(setup.spec, *codec, *codec, setup.path).ok()) {
        continue; // groups of 128
      }
      setup.spec.visibility = visibility;
      const auto copied = play_tree(setup, Player::Blocks::kCopied);
      for (const int threads : {1, 2}) {
        setup.threads = threads;
        expect_same_bits(
            copied,
            play_tree(setup, Player::Blocks::kShared),
            codec->name() + ", window " + std::to_string(visibility.window) +
                ", threads " + std::to_string(threads));
      }
    }
  }
}

// One split at a time, or a few.
TEST(AttendShare, GivesTheSameBitsHoweverFewPartialsAreKept) {
  for (const char* codec : {"bf16", "q4"}) {
    for (const Visibility& visibility : {kVisibilities[0], kVisibilities[3]}) {
      AttendSetup setup{.spec = small_spec(4, 2, 64)};
      setup.keys = setup.values = &codec_named(codec);
      setup.spec.visibility = visibility;
      const auto want = play_tree(setup, Player::Blocks::kCopied);
      for (const int threads : {1, 5}) {
        for (const int64_t kept : {1, 5000}) {
          setup.threads = threads;
          setup.kept_floats = kept;
          for (const auto blocks :
               {Player::Blocks::kCopied, Player::Blocks::kShared}) {
            expect_same_bits(
                want,
                play_tree(setup, blocks),
                std::string(codec) + ", " + std::to_string(threads) +
                    " threads, " + std::to_string(kept));
          }
        }
      }
      setup.threads = 1;
      setup.kept_floats = kKeptFloats;
    }
  }
}

TEST(AttendShare, GivesTheSameBitsWhereKeysAndValuesDiffer) {
  const std::pair<const char*, const char*> pairs[] = {
      {"bf16", "q4"}, {"q8", "t3"}, {"t4", "f16"}, {"f32", "bf16"}};
  for (const auto& [keys, values] : pairs) {
    AttendSetup setup{
        .spec = small_spec(6, 2, 128),
        .keys = &codec_named(keys),
        .values = &codec_named(values)};
    setup.spec.softcap = 3.0f;
    setup.spec.sink_logits = {0.5f, -1.0f, 2.0f, 0.0f, 1.0f, -2.0f};
    const auto copied = play_tree(setup, Player::Blocks::kCopied);
    setup.threads = 2;
    expect_same_bits(
        copied,
        play_tree(setup, Player::Blocks::kShared),
        std::string(keys) + "/" + values);
  }
}

TEST(AttendShare, GivesTheSameBitsForAnyGroupOfHeads) {
  for (const auto& [query_heads, kv_heads] :
       {std::pair{1, 1}, {8, 8}, {16, 2}, {32, 1}, {65, 1}}) {
    if (test::kSanitized && query_heads > 16) {
      continue;
    }
    for (const char* codec : {"bf16", "q4"}) {
      AttendSetup setup{.spec = small_spec(query_heads, kv_heads, 64)};
      setup.keys = setup.values = &codec_named(codec);
      const auto copied = play_tree(setup, Player::Blocks::kCopied);
      setup.threads = 2;
      expect_same_bits(
          copied,
          play_tree(setup, Player::Blocks::kShared),
          std::to_string(query_heads) + " heads on " +
              std::to_string(kv_heads));
    }
  }
}

TEST(AttendShare, GivesTheSameBitsOnEveryPath) {
  for (const char* codec : {"bf16", "f32", "q4", "t3"}) {
    for (const Visibility& visibility : {kVisibilities[0], kVisibilities[2]}) {
      AttendSetup setup{.spec = small_spec(4, 1, 64)};
      setup.keys = setup.values = &codec_named(codec);
      setup.spec.visibility = visibility;
      const auto copied = play_tree(setup, Player::Blocks::kCopied);
      for (const KernelPath path : paths_here()) {
        setup.path = path;
        expect_same_bits(
            copied,
            play_tree(setup, Player::Blocks::kShared),
            std::string(name(path)) + ", " + codec);
      }
    }
  }
}

// More queries than a unit takes: several units read the trunk.
TEST(AttendShare, GivesTheSameBitsForMoreRowsThanAUnitTakes) {
  AttendSetup setup{.spec = small_spec(8, 1, 64)};
  std::vector<PlayedRow> first;
  for (const auto blocks : {Player::Blocks::kCopied, Player::Blocks::kShared}) {
    Player player(setup);
    player.add_row(1);
    player.fill(0, 800);
    std::vector<Player::Part> parts{{0, 1}};
    for (int64_t r = 1; r < 40; ++r) {
      player.fork_row(0, 100 + r, blocks);
      parts.push_back({r, 1 + r % 3});
    }
    player.step(parts);
    std::vector<PlayedRow> rows;
    for (int64_t r = 0; r < 40; ++r) {
      rows.push_back(player.row(r));
      if (!first.empty()) {
        EXPECT_TRUE(same_bits(first[r], rows[r])) << "row " << r;
      }
    }
    first = std::move(rows);
    setup.threads = 2;
  }
}

} // namespace
} // namespace holdfast::cpu
