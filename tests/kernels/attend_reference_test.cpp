// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "tests/kernels/attend_player.h"

namespace holdfast::cpu {
namespace {

struct Grouping {
  int64_t query_heads;
  int64_t kv_heads;
};

constexpr int64_t kDims[] = {64, 80, 96, 128, 192, 256};
constexpr Grouping kGroupings[] = {{2, 2}, {4, 1}, {8, 1}};
constexpr int64_t kWindows[] = {0, 1, 8, 63, 64, 65, 512};

/// Steps of two tokens that end and begin around blocks and splits.
constexpr int64_t kStarts[] = {0, 62, 63, 64, 126, 511, 512, 575};

/// Each window with and without sinks, soft cap and sink logits; the step's
/// place varies with the combination.
void expect_all_features(Player& player, int combination) {
  AttentionSpec& spec = player.setup().spec;
  for (const int64_t window : kWindows) {
    for (int features = 0; features < 8; ++features) {
      spec.visibility = {window, (features & 1) != 0 ? 5 : 0};
      spec.softcap = (features & 2) != 0 ? 1.5f : 0.0f;
      spec.sink_logits.clear();
      for (int64_t h = 0; (features & 4) != 0 && h < spec.query_heads; ++h) {
        spec.sink_logits.push_back(0.5f * static_cast<float>(h) - 1.0f);
      }
      const int64_t start = kStarts[combination++ % std::size(kStarts)];
      player.roll_back(0, start);
      player.step({{0, 2}});
      for (int64_t p = start; p < start + 2; ++p) {
        ASSERT_LT(player.error_at(0, p), player.tolerance())
            << "codec " << player.setup().keys->name() << " dim "
            << spec.key_dim << " heads " << spec.query_heads << ":"
            << spec.kv_heads << " window " << window << " features " << features
            << " position " << p;
      }
    }
  }
}

class AttendReference : public ::testing::TestWithParam<const char*> {};

TEST_P(AttendReference, HoldsForEveryHeadSizeGroupingWindowAndFeature) {
  int combination = 0;
  for (const int64_t dim : kDims) {
    for (const Grouping& heads : kGroupings) {
      AttendSetup setup{
          .spec = small_spec(heads.query_heads, heads.kv_heads, dim)};
      setup.keys = setup.values = &codec_named(GetParam());
      Player player(setup);
      player.add_row(dim);
      player.fill(0, 577);
      expect_all_features(player, combination++);
    }
  }
}

TEST_P(AttendReference, HoldsThroughoutAPrefillInUnevenChunks) {
  for (const KernelPath path : paths_here()) {
    AttendSetup setup{.spec = small_spec(4, 2, 64), .path = path};
    setup.keys = setup.values = &codec_named(GetParam());
    setup.spec.visibility = {.window = 70, .sinks = 3};
    Player player(setup);
    player.add_row(7);
    player.play(0, {1, 63, 2, 130, 61});
    for (int64_t p = 0; p < player.row(0).written; p += 3) {
      ASSERT_LT(player.error_at(0, p), player.tolerance())
          << name(path) << " position " << p;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Codecs,
    AttendReference,
    ::testing::Values("f32", "f16", "bf16"),
    [](const auto& info) { return std::string(info.param); });

TEST(Attend, ReadsKeysAndValuesOfDifferentCodecsAndSizes) {
  for (const Codec* keys : dense_codecs()) {
    for (const Codec* values : dense_codecs()) {
      AttendSetup setup{
          .spec = small_spec(4, 1, 96), .keys = keys, .values = values};
      setup.spec.value_dim = 80;
      Player player(setup);
      player.add_row(3);
      player.play(0, {100, 30});
      for (int64_t p = 0; p < 130; p += 9) {
        ASSERT_LT(player.error_at(0, p), player.tolerance())
            << keys->name() << " keys, " << values->name() << " values";
      }
    }
  }
}

TEST(Attend, StaysExactWhenScoresAreFarApart) {
  // Scores to about +-400: all but the nearest weights vanish.
  for (const Codec* codec : dense_codecs()) {
    AttendSetup setup{
        .spec = small_spec(2, 1, 64), .keys = codec, .values = codec};
    setup.spec.scale = 40.0f;
    Player player(setup);
    player.add_row(11);
    player.play(0, {200});
    for (int64_t p = 0; p < 200; p += 7) {
      ASSERT_LT(player.error_at(0, p), 8 * player.tolerance()) << codec->name();
    }
  }
}

} // namespace
} // namespace holdfast::cpu
