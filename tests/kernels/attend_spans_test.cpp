// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Bidirectional spans: what their queries see, over block, split and window
// ends, and that the bits are the row's own.

#include <random>

#include "holdfast/kernels/cpu/attend_visible.h"
#include "tests/code_of.h"
#include "tests/kernels/attend_player.h"

namespace holdfast::cpu {
namespace {

constexpr int64_t kLength = 640;

/// Within a block; over a block's end; over a split's; of one position; from a
/// block's start, next to another; longer than the windows but one.
std::vector<BidirectionalSpan> all_spans() {
  std::vector<BidirectionalSpan> spans;
  for (const auto& [begin, end] : std::vector<std::pair<int64_t, int64_t>>{
           {3, 9},
           {60, 70},
           {230, 300},
           {310, 311},
           {320, 384},
           {384, 390},
           {400, 600}}) {
    spans.push_back({Position(begin), Position(end)});
  }
  return spans;
}

/// Chunks of `size`, a span whole in the one that meets it.
std::vector<int64_t>
chunks_of(int64_t size, const std::vector<BidirectionalSpan>& spans) {
  std::vector<int64_t> chunks;
  for (int64_t at = 0; at < kLength;) {
    int64_t end = std::min(at + size, kLength);
    for (const BidirectionalSpan& span : spans) {
      if (span.begin.get() < end && end < span.end.get()) {
        end = span.end.get();
      }
    }
    chunks.push_back(end - at);
    at = end;
  }
  return chunks;
}

/// Where spans begin and end, and some others.
std::vector<int64_t> positions() {
  std::vector<int64_t> result{0, 63, 100, 255, 256, 500, kLength - 1};
  for (const BidirectionalSpan& span : all_spans()) {
    result.push_back(span.begin.get());
    result.push_back(span.end.get() - 1);
  }
  return result;
}

struct Spanned : Player {
  explicit Spanned(const AttendSetup& setup) : Player(setup) {
    add_row(1).spans = all_spans();
  }
};

AttendSetup setup_of(const char* codec, Visibility sees) {
  AttendSetup setup{.spec = small_spec(4, 2, 64)};
  setup.keys = setup.values = &codec_named(codec);
  setup.spec.visibility = sees;
  return setup;
}

constexpr Visibility kSees[] = {{0, 0}, {20, 0}, {100, 5}, {64, 70}, {300, 0}};

TEST(AttendSpans, SeeThemselvesWhollyWithinTheWindow) {
  for (const char* codec : {"f32", "f16", "bf16", "q8", "q3", "t4"}) {
    for (const Visibility& sees : kSees) {
      Spanned player(setup_of(codec, sees));
      player.play(0, chunks_of(128, all_spans()));
      for (const int64_t p : positions()) {
        ASSERT_LT(player.error_at(0, p), player.tolerance())
            << codec << ", window " << sees.window << ", sinks " << sees.sinks
            << ", position " << p;
      }
    }
  }
}

TEST(AttendSpans, GoWithSoftCapsSinkLogitsAndGroupedHeads) {
  AttendSetup setup = setup_of("bf16", {100, 5});
  setup.spec = small_spec(8, 1, 96);
  setup.spec.visibility = {100, 5};
  setup.spec.softcap = 1.5f;
  setup.spec.sink_logits.assign(8, 0.25f);
  Spanned player(setup);
  player.play(0, {kLength});
  for (int64_t p = 0; p < kLength; p += 3) {
    ASSERT_LT(player.error_at(0, p), player.tolerance()) << "position " << p;
  }
}

TEST(AttendSpans, HaveTheSameBitsInAnyChunksThatCutNone) {
  for (const char* codec : {"f32", "bf16", "q4", "t3"}) {
    for (const Visibility& sees : kSees) {
      Spanned whole(setup_of(codec, sees));
      whole.play(0, {kLength});
      for (const int64_t size : {1, 7, 64, 256}) {
        Spanned player(setup_of(codec, sees));
        player.play(0, chunks_of(size, all_spans()));
        EXPECT_TRUE(same_bits(whole.row(0), player.row(0)))
            << codec << " in chunks of " << size;
      }
    }
  }
}

TEST(AttendSpans, HaveTheSameBitsForAnyThreadsPathAndNeighbours) {
  for (const char* codec : {"bf16", "q8"}) {
    AttendSetup setup = setup_of(codec, {100, 5});
    Spanned alone(setup);
    alone.play(0, {kLength});
    for (const KernelPath path : paths_here()) {
      setup.path = path;
      ++setup.threads;
      Player player(setup);
      player.add_row(2).spans = {{Position(1), Position(90)}};
      player.add_row(1).spans = all_spans();
      player.add_row(3);
      player.step({{0, 100}, {1, 390}, {2, 5}});
      player.step({{2, 7}, {1, kLength - 390}, {0, 1}});
      EXPECT_TRUE(same_bits(alone.row(0), player.row(1)))
          << codec << " on " << name(path) << ", " << setup.threads
          << " threads";
    }
  }
}

TEST(AttendSpans, ChangeNothingInALayerThatLeavesThemOut) {
  for (const int64_t window : {0, 50}) {
    const Visibility sees{window, 4, false};
    Spanned spans(setup_of("bf16", sees));
    spans.play(0, {kLength});
    Player plain(setup_of("bf16", {window, 4}));
    plain.add_row(1);
    plain.play(0, {kLength});
    EXPECT_TRUE(same_bits(plain.row(0), spans.row(0)));
  }
}

// Else a test above could not fail.
TEST(AttendSpans, ChangeWhatTheirQueriesSeeAndNothingElse) {
  Spanned spans(setup_of("f32", {}));
  spans.play(0, {kLength});
  Player plain(setup_of("f32", {}));
  plain.add_row(1);
  plain.play(0, {kLength});
  for (int64_t p = 0; p < kLength; ++p) {
    const bool sees_more = std::ranges::any_of(all_spans(), [&](auto& span) {
      return span.begin.get() <= p && p + 1 < span.end.get();
    });
    EXPECT_EQ(spans.row(0).outputs[p] != plain.row(0).outputs[p], sees_more)
        << "position " << p;
  }
}

TEST(AttendSpans, AreRefusedInPartAndOutOfOrder) {
  for (const std::vector<BidirectionalSpan>& spans :
       std::vector<std::vector<BidirectionalSpan>>{
           {{Position(5), Position(11)}},
           {{Position(5), Position(5)}},
           {{Position(5), Position(8)}, {Position(7), Position(9)}},
           {{Position(7), Position(9)}, {Position(1), Position(3)}}}) {
    Player player(setup_of("bf16", {}));
    player.add_row(1).spans = spans;
    EXPECT_EQ(
        code_of([&] { player.play(0, {10}); }), ErrorCode::kInvalidArgument);
    EXPECT_TRUE(player.row(0).outputs.empty());
  }
}

TEST(AttendSpans, MaskTheKeysOfTheirBlocks) {
  std::mt19937 random(12);
  const auto below = [&](int64_t n) { return int64_t(random() % uint64_t(n)); };
  for (int draw = 0; draw < 500; ++draw) {
    const Visibility sees{below(4) == 0 ? 0 : 1 + below(300), below(200)};
    const int64_t begin = below(400);
    const RowSpan row{
        0,
        400,
        begin,
        {{Position(begin + 30), Position(begin + 31 + below(350))}}};
    const int64_t first = begin + below(300);
    const int64_t last = first + below(90);
    const VisibleBlocks blocks = visible_blocks(sees, row, first, last);
    std::vector<bool> has(16);
    for (int64_t p = first; p <= last; ++p) {
      const BidirectionalSpan& span = row.bidirectional[0];
      const bool within = span.begin.get() <= p && p < span.end.get();
      for (int64_t key = 0; key < 1024; ++key) {
        const bool known = key <= p || (within && key < span.end.get());
        const bool near = sees.window == 0 || std::abs(key - p) < sees.window;
        const bool seen = known && (near || key < sees.sinks);
        const uint64_t mask =
            visible_keys(sees, sight_at(sees, row, p), key / kBlockTokens);
        ASSERT_EQ((mask >> key % kBlockTokens & 1) != 0, seen)
            << "window " << sees.window << " sinks " << sees.sinks
            << " position " << p << " key " << key;
        has[key / kBlockTokens] = has[key / kBlockTokens] || seen;
      }
    }
    for (int64_t b = 0; b < 16; ++b) {
      ASSERT_EQ(blocks.has(b), has[b]) << "block " << b;
    }
  }
}

} // namespace
} // namespace holdfast::cpu
