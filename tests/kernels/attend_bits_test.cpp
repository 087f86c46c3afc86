// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A row's outputs depend on nothing but the row: equal bits over chunks,
// neighbours, threads, grouped heads and paths.

#include "tests/kernels/attend_player.h"

namespace holdfast::cpu {
namespace {

struct Case {
  const char* codec;
  Visibility visibility;
  float softcap;
};

class AttendBits : public ::testing::TestWithParam<Case> {
 protected:
  static constexpr int64_t kLength = 700; // past a split, within a block

  AttendSetup setup(int64_t query_heads = 4, int64_t kv_heads = 1) const {
    AttendSetup setup{.spec = small_spec(query_heads, kv_heads, 64)};
    setup.keys = setup.values = &codec_named(GetParam().codec);
    setup.spec.visibility = GetParam().visibility;
    setup.spec.softcap = GetParam().softcap;
    return setup;
  }
  static std::vector<int64_t> chunks_of(int64_t size, int64_t length) {
    std::vector<int64_t> chunks(length / size, size);
    if (length % size != 0) {
      chunks.push_back(length % size);
    }
    return chunks;
  }
};

TEST_P(AttendBits, AreTheSameForAnyChunks) {
  Player whole(setup());
  whole.add_row(1);
  whole.play(0, {kLength});
  for (const int64_t size : {1, 7, 64, 512}) {
    Player player(setup());
    player.add_row(1);
    player.play(0, chunks_of(size, kLength));
    EXPECT_TRUE(same_bits(whole.row(0), player.row(0))) << "chunks of " << size;
  }
}

TEST_P(AttendBits, AreTheSameForAnyNumberOfThreads) {
  Player one(setup());
  one.add_row(1);
  one.fill(0, 5 * kLength);
  one.play(0, {1, 40, 1});
  for (const int threads : {2, 3, 8}) {
    AttendSetup many = setup();
    many.threads = threads;
    Player player(many);
    player.add_row(1);
    player.fill(0, 5 * kLength);
    player.play(0, {1, 40, 1});
    EXPECT_TRUE(same_bits(one.row(0), player.row(0))) << threads << " threads";
  }
}

TEST_P(AttendBits, AreTheSameBesideNeighboursThatComeAndGo) {
  Player alone(setup());
  alone.add_row(1);
  alone.play(0, {100, 1, 1, 30});
  AttendSetup two = setup();
  two.threads = 2;
  Player player(two);
  for (const uint64_t seed : {9, 1, 5}) {
    player.add_row(seed);
  }
  player.step({{0, 333}, {1, 100}});
  player.step({{1, 1}});
  player.step({{2, 70}, {0, 1}, {1, 1}});
  player.step({{1, 30}, {2, 200}});
  EXPECT_TRUE(same_bits(alone.row(0), player.row(1)));
}

TEST_P(AttendBits, OfAHeadAreTheSameAloneAndInAGroupOfEight) {
  Player group(setup(8, 1));
  group.add_row(1);
  group.play(0, {90, 1});
  // A single query head whose queries are the group's third.
  Player alone(setup(1, 1));
  alone.add_row(1);
  alone.fill(0, 90);
  const PlayedRow& row = group.row(0);
  const std::vector<float> q = group.query(row, 90);
  const std::vector<float> k = group.key(row, 90);
  const std::vector<float> v = group.value(row, 90);
  const RowSpan span{0, 1, 90};
  RowBlocks blocks;
  for (const auto& image : alone.row(0).images) {
    blocks.images.push_back(image.get());
  }
  std::vector<float> out(64);
  Executor executor(1);
  append_and_attend(
      {.spec = &alone.setup().spec,
       .keys = alone.setup().keys,
       .values = alone.setup().values,
       .layout = &alone.layout(),
       .layer = 1,
       .rows = {&span, 1},
       .blocks = {&blocks, 1},
       .q = q.data() + 3 * 64,
       .k = k.data(),
       .v = v.data(),
       .out = out.data()},
      executor,
      alone.setup().path);
  EXPECT_EQ(
      std::memcmp(out.data(), row.outputs.at(90).data() + 3 * 64, 256), 0);
}

TEST_P(AttendBits, AreTheSameOnEveryPath) {
  AttendSetup plain = setup();
  plain.path = KernelPath::kPlain;
  Player expected(plain);
  expected.add_row(1);
  expected.fill(0, 470);
  expected.play(0, {1, 50, 1});
  for (const KernelPath path : paths_here()) {
    AttendSetup other = setup();
    other.path = path;
    Player player(other);
    player.add_row(1);
    player.fill(0, 470);
    player.play(0, {1, 50, 1});
    EXPECT_TRUE(same_bits(expected.row(0), player.row(0))) << name(path);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases,
    AttendBits,
    ::testing::Values(
        Case{"bf16", {}, 0.0f},
        Case{"bf16", {.window = 100, .sinks = 4}, 0.0f},
        Case{"f16", {.window = 64, .sinks = 0}, 2.0f},
        Case{"f32", {}, 0.0f}),
    [](const auto& info) { return "Case" + std::to_string(info.index); });

TEST(AttendBitsOfSizes, AreTheSameOnEveryPathForEveryHeadSize) {
  for (const int64_t dim : {64, 80, 96, 128, 192, 256}) {
    for (const Codec* codec : dense_codecs()) {
      AttendSetup setup{
          .spec = small_spec(3, 1, dim), .keys = codec, .values = codec};
      setup.spec.sink_logits = {0.5f, -1.0f, 2.0f};
      setup.path = KernelPath::kPlain;
      Player expected(setup);
      expected.add_row(1);
      expected.play(0, {70, 1});
      for (const KernelPath path : paths_here()) {
        setup.path = path;
        Player player(setup);
        player.add_row(1);
        player.play(0, {70, 1});
        EXPECT_TRUE(same_bits(expected.row(0), player.row(0)))
            << name(path) << " " << codec->name() << " " << dim;
      }
    }
  }
}

} // namespace
} // namespace holdfast::cpu
