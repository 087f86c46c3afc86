// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Faults that other state layers had around windows, block ends and rows.

#include <random>

#include "holdfast/kernels/cpu/attend_visible.h"
#include "tests/kernels/attend_player.h"

namespace holdfast::cpu {
namespace {

AttendSetup windowed(int64_t window, const char* codec = "bf16") {
  AttendSetup setup{.spec = small_spec(2, 1, 64)};
  setup.keys = setup.values = &codec_named(codec);
  setup.spec.visibility.window = window;
  return setup;
}

/// A query outside all spans.
Sight causal(int64_t position) {
  return {position, position + 1};
}

void expect_right(Player& player, int64_t row, int64_t first) {
  for (int64_t p = first; p < player.row(row).written; ++p) {
    ASSERT_LT(player.error_at(row, p), player.tolerance()) << "position " << p;
  }
}

TEST(AttendFaults, AChunkLongerThanAFilledWindowSeesItsWholeWindow) {
  for (const Codec* codec : dense_codecs()) {
    Player player(windowed(8, codec->name().c_str()));
    player.add_row(1);
    player.play(0, {8, 12});
    player.play(0, std::vector<int64_t>(24, 1));
    expect_right(player, 0, 0);
  }
}

TEST(AttendFaults, PrefillsLongerThanTheWindowWorkAtEveryOffset) {
  for (const int64_t window : {8, 64}) {
    for (const int64_t offset :
         {int64_t{0}, int64_t{1}, window - 1, window, 3 * window}) {
      for (const int64_t length :
           {int64_t{1},
            window - 1,
            window,
            window + 1,
            2 * window,
            2 * window + 1}) {
        Player player(windowed(window));
        player.add_row(1);
        player.fill(0, offset);
        player.play(0, {length});
        expect_right(player, 0, offset);
      }
    }
  }
}

TEST(AttendFaults, MasksHaveTheColumnsOfTheKeysTheyMeet) {
  std::mt19937 random(10);
  const auto below = [&](int64_t n) { return int64_t(random() % uint64_t(n)); };
  for (int draw = 0; draw < 10000; ++draw) {
    const Visibility sees{below(4) == 0 ? 0 : 1 + below(300), below(200)};
    const int64_t position = below(900);
    const VisibleBlocks blocks =
        visible_blocks(sees, RowSpan(), position, position);
    for (int64_t b = 0; b < 16; ++b) {
      const uint64_t mask = visible_keys(sees, causal(position), b);
      EXPECT_EQ(mask != 0, blocks.has(b));
      for (int64_t j = 0; j < kBlockTokens; ++j) {
        const int64_t key = b * kBlockTokens + j;
        const bool seen = key <= position &&
            (sees.window == 0 || key > position - sees.window ||
             key < sees.sinks);
        ASSERT_EQ((mask >> j & 1) != 0, seen)
            << "window " << sees.window << " sinks " << sees.sinks
            << " position " << position << " key " << key;
      }
    }
  }
}

TEST(AttendFaults, BlocksOfAChunkCoverEachOfItsQueries) {
  std::mt19937 random(11);
  const auto below = [&](int64_t n) { return int64_t(random() % uint64_t(n)); };
  for (int draw = 0; draw < 2000; ++draw) {
    const Visibility sees{below(300), below(200)};
    const int64_t first = below(700);
    const int64_t last = first + below(200);
    const VisibleBlocks blocks = visible_blocks(sees, RowSpan(), first, last);
    for (int64_t b = 0; b < 16; ++b) {
      bool seen = false;
      for (int64_t p = first; p <= last; ++p) {
        seen = seen || visible_keys(sees, causal(p), b) != 0;
      }
      ASSERT_EQ(blocks.has(b), seen) << "block " << b;
    }
  }
}

TEST(AttendFaults, TheOldestKeyGoesExactlyWhenTheWindowIsFull) {
  const Visibility sees{.window = 8, .sinks = 0};
  for (int64_t p = 0; p < 8; ++p) {
    EXPECT_EQ(visible_keys(sees, causal(p), 0), lowest_bits(p + 1));
  }
  EXPECT_EQ(visible_keys(sees, causal(8), 0), lowest_bits(9) - 1);
  Player player(windowed(8));
  player.add_row(1);
  player.play(0, {6, 1, 1, 1, 1});
  expect_right(player, 0, 0);
}

TEST(AttendFaults, EveryRowOfABatchWritesTheBytesItWritesAlone) {
  for (const Codec* codec : dense_codecs()) {
    AttendSetup setup = windowed(0, codec->name().c_str());
    setup.spec.kv_heads = 2;
    setup.spec.query_heads = 4;
    Player batch(setup);
    for (uint64_t seed = 0; seed < 4; ++seed) {
      batch.add_row(seed);
    }
    batch.step({{0, 70}, {1, 3}, {2, 64}, {3, 1}});
    batch.step({{3, 65}, {1, 1}, {0, 2}});
    for (int64_t r = 0; r < 4; ++r) {
      Player alone(setup);
      alone.add_row(r);
      alone.play(0, {batch.row(r).written});
      EXPECT_TRUE(same_bits(alone.row(0), batch.row(r)));
      for (size_t b = 0; b < alone.row(0).images.size(); ++b) {
        EXPECT_EQ(
            std::memcmp(
                alone.row(0).images[b].get(),
                batch.row(r).images[b].get(),
                alone.layout().bytes().get()),
            0)
            << codec->name() << " row " << r << " block " << b;
      }
    }
  }
}

TEST(AttendFaults, NothingIsReadOfFreshBlocksAtAnyLength) {
  // Fresh blocks hold NaN; one key read too many would show.
  for (const Codec* codec : dense_codecs()) {
    Player player(windowed(0, codec->name().c_str()));
    player.add_row(1);
    for (int64_t n = 1; n <= 3 * kBlockTokens; ++n) {
      player.step({{0, 1}});
      ASSERT_EQ(
          static_cast<int64_t>(player.row(0).images.size()),
          (n + kBlockTokens - 1) / kBlockTokens);
      ASSERT_LT(player.error_at(0, n - 1), player.tolerance()) << n;
    }
  }
}

TEST(AttendFaults, RolledBackSlotsLeaveNoTraceWhateverTheyHold) {
  for (const Codec* codec : dense_codecs()) {
    AttendSetup setup = windowed(0, codec->name().c_str());
    Player never(setup);
    never.add_row(1);
    never.play(0, {40, 1, 1});
    Player player(setup);
    player.add_row(1);
    player.play(0, {40, 30});
    player.roll_back(0, 40);
    // The rejected slots hold NaN, as a rejected draft's overflow might.
    for (int64_t slot = 40; slot < 64; ++slot) {
      const std::vector<float> nan(64, NAN);
      std::byte* planes[2] = {
          player.plane(player.row(0), slot, 0, 0),
          player.plane(player.row(0), slot, 0, 1)};
      codec->encode(ChannelRole::kKeys, nan, slot, {planes, 1});
      codec->encode(ChannelRole::kValues, nan, slot, {planes + 1, 1});
    }
    player.row(0).outputs.clear();
    player.play(0, {1, 1});
    EXPECT_TRUE(same_bits(never.row(0), player.row(0))) << codec->name();
  }
}

TEST(AttendFaults, ReleasedBlocksBelowAWindowAreNeverTouched) {
  for (const int64_t sinks : {0, 4}) {
    AttendSetup setup = windowed(100);
    setup.spec.visibility.sinks = sinks;
    Player kept(setup);
    kept.add_row(1);
    kept.play(0, {400, 1, 30});
    Player player(setup);
    player.add_row(1);
    player.play(0, {400});
    for (int64_t b = sinks > 0 ? 1 : 0; b < (400 - 100) / kBlockTokens; ++b) {
      player.row(0).images[b].reset();
    }
    player.play(0, {1, 30});
    EXPECT_TRUE(same_bits(kept.row(0), player.row(0)));
  }
}

} // namespace
} // namespace holdfast::cpu
