// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/plan/blank_tail.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/block/layout.h"
#include "tests/random_values.h"

namespace holdfast {
namespace {

using Image = std::vector<std::byte>;

constexpr int64_t kLength = 74; // the row's; 10 slots of its last block
constexpr int64_t kSlots = kLength % kBlockTokens;

/// A head size that the codec fits, of keys and values.
int64_t dim_for(const Codec& codec) {
  for (const int64_t dim : {64, 128}) {
    if (codec.supports(ChannelRole::kKeys, dim).ok() &&
        codec.supports(ChannelRole::kValues, dim).ok()) {
      return dim;
    }
  }
  ADD_FAILURE() << codec.name() << " fits neither head";
  return 0;
}

LayerGroups two_layers(const Codec& codec) {
  const LayerState layer{
      .attention =
          {.query_heads = 4,
           .kv_heads = 2,
           .key_dim = dim_for(codec),
           .value_dim = dim_for(codec)},
      .phases = {{.keys = &codec, .values = &codec}}};
  return LayerGroups(std::vector{layer, layer});
}

void encode(
    const LayerGroup& group,
    Image& image,
    int64_t first,
    int64_t end,
    uint32_t seed) {
  const GroupPhase& phase = group.phases[0];
  for (int64_t layer = 0; layer < std::ssize(group.layers); ++layer) {
    for (int64_t head = 0; head < group.kv_heads; ++head) {
      for (const ChannelRole role :
           {ChannelRole::kKeys, ChannelRole::kValues}) {
        for (int64_t slot = first; slot < end; ++slot) {
          std::vector<float> vector =
              test::random_values(group.key_dim, seed + 100 * head + slot);
          if (seed == 0) {
            vector.assign(vector.size(), 0.0f);
          }
          phase.codec(role).encode(
              role,
              vector,
              slot,
              phase.planes(image.data(), layer, head, role));
        }
      }
    }
  }
}

TEST(BlankTail, LeavesZerosOfEveryCodecBehindThePositionsWhateverWasThere) {
  for (const Codec* codec : all_codecs()) {
    SCOPED_TRACE(codec->name());
    const LayerGroups groups = two_layers(*codec);
    const LayerGroup& group = groups.group(0);
    const auto bytes = static_cast<size_t>(groups.image_bytes()[0].get());
    Image want(bytes);
    encode(group, want, 0, kSlots, 1);
    Image fresh = want;
    encode(group, want, kSlots, kBlockTokens, 0);
    Image dirty(bytes);
    encode(group, dirty, 0, kBlockTokens, 7);
    encode(group, dirty, 0, kSlots, 1);
    ASSERT_NE(dirty, want);
    for (Image* image : {&fresh, &dirty}) {
      blank_tail(
          group,
          {.group = 0,
           .phase = 0,
           .image = image->data(),
           .committed = Position(kLength)});
      EXPECT_EQ(*image, want);
    }
  }
}

TEST(BlankTail, LeavesABlockThatIsFullAsItIs) {
  const LayerGroups groups = two_layers(*find_codec("q4").value());
  Image image(static_cast<size_t>(groups.image_bytes()[0].get()));
  encode(groups.group(0), image, 0, kBlockTokens, 1);
  const Image before = image;
  blank_tail(
      groups.group(0), {.image = image.data(), .committed = Position(128)});
  EXPECT_EQ(image, before);
}

// A running state stays where it counts committed inputs alone.
TEST(BlankTail, ClearsARecurrentLayersInputsAndAStateThatCountsThem) {
  const RecurrentSpec spec{2, 4, 32, 32, 4};
  LayerState layer;
  layer.recurrent = spec;
  const LayerGroups groups(std::vector{layer, layer});
  const LayerGroup& group = groups.group(0);
  const ImageLayout& layout = group.phases[0].layout;
  const auto floats = [&](Image& image, int64_t head, RecurrentPlane plane) {
    return reinterpret_cast<float*>(
        image.data() + layout.offset(1, head, plane).get());
  };
  for (const int64_t mark : {0, 70, 74, 75, 128}) {
    Image image(static_cast<size_t>(layout.bytes().get()));
    for (int64_t layers = 0; layers < 2; ++layers) {
      for (int64_t head = 0; head < 2; ++head) {
        const auto at = layout.offset(layers, head, kRecurrentInputs).get();
        std::memset(image.data() + at, 1, layout.head_stride(0).get() - 64);
        std::memcpy(
            image.data() + layout.offset(layers, head, kRecurrentMark).get(),
            &mark,
            sizeof(mark));
      }
    }
    Image before = image;
    blank_tail(group, {.image = image.data(), .committed = Position(kLength)});
    const bool stays = mark == 70 || mark == 74;
    for (int64_t head = 0; head < 2; ++head) {
      const auto same = [&](RecurrentPlane plane, int64_t first, int64_t end) {
        return std::equal(
            floats(image, head, plane) + first,
            floats(image, head, plane) + end,
            floats(before, head, plane) + first);
      };
      const auto zero = [&](RecurrentPlane plane, int64_t first, int64_t end) {
        return std::all_of(
            floats(image, head, plane) + first,
            floats(image, head, plane) + end,
            [](float x) { return x == 0.0f; });
      };
      const int64_t own = (spec.taps - 1 + kSlots) * spec.head_width();
      const int64_t all = (spec.taps - 1 + kBlockTokens) * spec.head_width();
      EXPECT_TRUE(same(kRecurrentInputs, 0, own)) << mark;
      EXPECT_TRUE(zero(kRecurrentInputs, own, all)) << mark;
      const int64_t gates = 2 * spec.sharing();
      EXPECT_TRUE(same(kRecurrentGates, 0, kSlots * gates)) << mark;
      EXPECT_TRUE(zero(kRecurrentGates, kSlots * gates, kBlockTokens * gates));
      EXPECT_TRUE(same(kRecurrentBoundary, 0, spec.head_state())) << mark;
      EXPECT_EQ(stays, same(kRecurrentRunning, 0, spec.head_state())) << mark;
      EXPECT_EQ(stays, !zero(kRecurrentRunning, 0, spec.head_state())) << mark;
      int64_t now = 0;
      std::memcpy(&now, floats(image, head, kRecurrentMark), sizeof(now));
      EXPECT_EQ(now, stays ? mark : 0);
    }
  }
}

} // namespace
} // namespace holdfast
