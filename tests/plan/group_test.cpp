// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/plan/group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "holdfast/block/layout.h"
#include "holdfast/codec/kv_choice.h"
#include "holdfast/plan/layer_bounds.h"
#include "retained.h"
#include "tests/code_of.h"

namespace holdfast {
namespace {

using testing::ElementsAre;

/// Stores a byte an element in one plane; refuses heads over 128.
class Narrow : public Codec {
 public:
  explicit Narrow(int64_t planes) : planes_(planes) {}
  std::string name() const override {
    return "narrow" + std::to_string(planes_);
  }
  std::string id() const override {
    return "test.narrow." + std::to_string(planes_);
  }
  Status supports(ChannelRole, int64_t head_dim) const override {
    return head_dim <= 128
        ? Status()
        : Status(ErrorCode::kUnsupported, "narrow fits heads up to 128");
  }
  std::vector<PlaneSpec> planes(ChannelRole, int64_t head_dim) const override {
    return std::vector<PlaneSpec>(
        static_cast<size_t>(planes_),
        {"codes", Bytes(head_dim * kBlockTokens)});
  }
  void encode(
      ChannelRole,
      std::span<const float>,
      int64_t,
      std::span<std::byte* const>) const override {}
  void decode(
      ChannelRole,
      std::span<const std::byte* const>,
      int64_t,
      std::span<float>) const override {}

 private:
  int64_t planes_;
};

const Narrow kOne(1);
const Narrow kTwo(2);

LayerState layer(Visibility visibility = {}) {
  return {
      .attention =
          {.query_heads = 4,
           .kv_heads = 2,
           .key_dim = 64,
           .value_dim = 64,
           .visibility = visibility,
           .sink_logits = {}},
      .phases = {{.keys = &kOne, .values = &kOne}}};
}

TEST(LayerGroups, PutLayersOfEqualChannelsAndRetentionTogether) {
  // Five sliding layers, then a full one, as some models alternate.
  std::vector<LayerState> layers;
  for (int i = 0; i < 12; ++i) {
    layers.push_back(layer(i % 6 == 5 ? Visibility{} : Visibility{512, 0}));
  }
  const LayerGroups groups(layers);
  ASSERT_EQ(groups.size(), 2);
  EXPECT_EQ(groups.layers(), 12);
  EXPECT_EQ(groups.group(0).rule, (GroupRule{512, 0, {}}));
  EXPECT_EQ(groups.group(1).rule, GroupRule{});
  EXPECT_THAT(
      groups.group(1).layers, ElementsAre(LayerIndex(5), LayerIndex(11)));
  for (int64_t index = 0; index < 12; ++index) {
    const LayerPlace place = groups.place(LayerIndex(index));
    EXPECT_EQ(
        groups.group(place.group).layers[static_cast<size_t>(place.layer)],
        LayerIndex(index));
  }
}

TEST(LayerGroups, KeepApartWhateverDecidesTheImageOrTheRetention) {
  std::vector<LayerState> layers(8, layer());
  layers[1].attention.kv_heads = 4;
  layers[2].attention.key_dim = 128;
  layers[3].attention.value_dim = 128;
  layers[4].phases[0].keys = &kTwo;
  layers[5].phases[0].values = &kTwo;
  layers[6] = layer({64, 0});
  layers[7] = layer({64, 4});
  EXPECT_EQ(LayerGroups(layers).size(), 8);
}

TEST(LayerGroups, DoNotSplitOverWhatOnlyScoresDependOn) {
  std::vector<LayerState> layers(5, layer());
  layers[1].attention.query_heads = 8;
  layers[2].attention.scale = 0.5f;
  layers[3].attention.softcap = 30;
  layers[4].attention.visibility.sinks = 4; // without a window all is kept
  EXPECT_EQ(LayerGroups(layers).size(), 1);
}

TEST(LayerGroups, LayOutKeysPlanesBeforeValuesForEveryLayer) {
  std::vector<LayerState> layers(3, layer());
  for (LayerState& each : layers) {
    each.phases[0].keys = &kTwo;
  }
  const LayerGroups groups(layers);
  const LayerGroup& group = groups.group(0);
  const GroupPhase& phase = group.phases[0];
  EXPECT_EQ(phase.key_planes, 2);
  EXPECT_EQ(phase.layout.layers(), 3);
  // Three planes of 64 * 64 bytes a head, two heads.
  EXPECT_EQ(phase.layout.bytes(), Bytes(3 * 2 * 3 * 64 * 64));
  EXPECT_EQ(groups.bytes_per_token(), Bytes(3 * 2 * 3 * 64));
  EXPECT_THAT(groups.image_bytes(), ElementsAre(phase.layout.bytes()));
}

TEST(LayerGroups, RetainAWindowedGroupOnlyUpToItsWindow) {
  const LayerGroups groups(std::vector{layer({128, 0}), layer()});
  const int64_t image = groups.group(0).phases[0].layout.bytes().get();
  EXPECT_EQ(retained_bytes(groups, Position(0)), Bytes(0));
  EXPECT_EQ(retained_bytes(groups, Position(1)), Bytes(2 * image));
  EXPECT_EQ(retained_bytes(groups, Position(64)), Bytes(2 * image));
  EXPECT_EQ(retained_bytes(groups, Position(65)), Bytes(4 * image));
  // 6400 positions: 100 blocks, of which the window needs the last two.
  EXPECT_EQ(retained_bytes(groups, Position(6400)), Bytes(102 * image));
}

TEST(LayerGroups, GiveEachPhaseImagesOfItsOwn) {
  LayerState changing = layer({128, 0});
  changing.phases = {
      {.keys = &kTwo, .values = &kTwo},
      {.keys = &kTwo, .values = &kOne, .start = Position(100)}};
  const LayerGroups groups(std::vector{changing, layer()});
  ASSERT_EQ(groups.group(0).phases.size(), 2u);
  EXPECT_EQ(
      groups.group(0).rule, (GroupRule{128, 0, std::vector{Position(100)}}));
  const int64_t plane = 64 * 64;
  EXPECT_THAT(
      groups.image_bytes(),
      ElementsAre(
          Bytes(2 * 4 * plane), Bytes(2 * 3 * plane), Bytes(2 * 2 * plane)));
  EXPECT_EQ(groups.group(0).phases[1].value_planes, 1);
  EXPECT_EQ(groups.bytes_per_token(), Bytes(2 * 5 * 64));
  // Four planes a block and head until 99, two blocks; then three.
  EXPECT_EQ(
      retained_bytes(groups, Position(99)), Bytes(2 * (2 * 4 + 2 * 2) * plane));
  EXPECT_EQ(
      retained_bytes(groups, Position(101)),
      Bytes(2 * (2 * 3 + 2 * 2) * plane));
}

TEST(LayerGroups, KeepApartLayersThatChangeElsewhereOrIntoSomethingElse) {
  const auto changing = [](const Codec* into, int64_t start) {
    LayerState result = layer();
    result.phases.push_back(
        {.keys = into, .values = &kOne, .start = Position(start)});
    return result;
  };
  EXPECT_EQ(
      LayerGroups(std::vector{
                      layer(),
                      changing(&kTwo, 8),
                      changing(&kTwo, 9),
                      changing(&kOne, 8),
                      changing(&kTwo, 8)})
          .size(),
      4);
}

TEST(LayerGroups, RefuseACodecThatDoesNotFitAHead) {
  std::vector<LayerState> layers{layer()};
  layers[0].attention.value_dim = 256;
  EXPECT_EQ(code_of([&] { LayerGroups{layers}; }), ErrorCode::kUnsupported);
}

TEST(LayerGroups, RefuseNumbersThatContradictEachOther) {
  const auto build = [](const auto& change) {
    std::vector<LayerState> layers{layer(), layer()};
    change(layers[1]);
    return code_of([&] { LayerGroups{layers}; });
  };
  const auto bad = ErrorCode::kInvalidArgument;
  EXPECT_EQ(build([](LayerState&) {}), ErrorCode::kOk);
  EXPECT_EQ(build([](LayerState& l) { l.attention.kv_heads = 3; }), bad);
  EXPECT_EQ(build([](LayerState& l) { l.attention.kv_heads = 0; }), bad);
  EXPECT_EQ(build([](LayerState& l) { l.attention.key_dim = 0; }), bad);
  EXPECT_EQ(build([](LayerState& l) { l.attention.value_dim = -1; }), bad);
  EXPECT_EQ(
      build([](LayerState& l) { l.attention.visibility.window = -1; }), bad);
  EXPECT_EQ(
      build([](LayerState& l) { l.attention.visibility.sinks = -1; }), bad);
  EXPECT_EQ(build([](LayerState& l) { l.attention.sink_logits = {1}; }), bad);
  EXPECT_EQ(build([](LayerState& l) { l.phases[0].keys = nullptr; }), bad);
  EXPECT_EQ(build([](LayerState& l) { l.phases.clear(); }), bad);
  EXPECT_EQ(build([](LayerState& l) { l.phases[0].start = Position(1); }), bad);
  EXPECT_EQ(build([](LayerState& l) { l.phases.push_back(l.phases[0]); }), bad);
  EXPECT_EQ(code_of([] { LayerGroups{std::vector<LayerState>{}}; }), bad);
}

// As INT64_MAX for "all": sums with a position wrap, and a query has no keys.
TEST(LayerGroups, RefuseNumbersWhoseSumsAndSizesWouldOverflow) {
  const auto build = [](const auto& change) {
    std::vector<LayerState> layers{layer()};
    change(layers[0].attention);
    return code_of([&] { LayerGroups{layers}; });
  };
  const int64_t positions = kMaxPositions.get();
  for (const int64_t most : {positions + 1, kNeverStart.get()}) {
    EXPECT_EQ(
        build([&](AttentionSpec& a) { a.visibility.window = most; }),
        ErrorCode::kInvalidArgument);
    EXPECT_EQ(
        build([&](AttentionSpec& a) {
          a.visibility = {.window = 1, .sinks = most};
        }),
        ErrorCode::kInvalidArgument);
  }
  for (const int64_t most : {kMaxHeads * 2, int64_t{1} << 58}) {
    EXPECT_EQ(
        build([&](AttentionSpec& a) { a.query_heads = most; }),
        ErrorCode::kInvalidArgument);
    EXPECT_EQ(
        build([&](AttentionSpec& a) { a.query_heads = a.kv_heads = most; }),
        ErrorCode::kInvalidArgument);
    EXPECT_EQ(
        build([&](AttentionSpec& a) { a.key_dim = most; }),
        ErrorCode::kInvalidArgument);
    EXPECT_EQ(
        build([&](AttentionSpec& a) { a.value_dim = most; }),
        ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(
      build([&](AttentionSpec& a) {
        a.visibility = {.window = positions, .sinks = positions};
        a.query_heads = a.kv_heads = kMaxHeads;
      }),
      ErrorCode::kOk);
}

} // namespace
} // namespace holdfast
