// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Reads of keys and values that are codes: against attention in double over
// what the codecs stored, and equal bits over chunks, threads and paths.

#include "holdfast/codec/affine.h"
#include "holdfast/codec/turbo.h"
#include "tests/kernels/attend_player.h"

namespace holdfast::cpu {
namespace {

/// Each number of bits of each kind, and each group.
std::vector<std::unique_ptr<Codec>> coded() {
  std::vector<std::unique_ptr<Codec>> codecs;
  for (const int bits : {2, 3, 4, 5, 6, 8}) {
    const int group = bits % 3 == 0 ? 32 : bits % 3 == 1 ? 64 : 128;
    codecs.push_back(std::make_unique<AffineCodec>(bits, group));
    if (bits != 6) {
      codecs.push_back(std::make_unique<TurboCodec>(bits));
    }
  }
  codecs.push_back(std::make_unique<AffineCodec>(4, 32));
  codecs.push_back(std::make_unique<AffineCodec>(8, 64));
  return codecs;
}

bool fits(const AttendSetup& setup) {
  return supports_attend(setup.spec, *setup.keys, *setup.values, setup.path)
      .ok();
}

TEST(AttendCodes, AreReadAsTheCodecStoredThem) {
  int combination = 0;
  for (const auto& codec : coded()) {
    for (const int64_t dim : {64, 80, 96, 128, 256}) {
      AttendSetup setup{
          .spec = small_spec(4, combination++ % 2 + 1, dim),
          .keys = codec.get(),
          .values = codec.get()};
      setup.spec.visibility = {.window = combination % 3 * 150, .sinks = 3};
      if (!fits(setup)) {
        continue;
      }
      Player player(setup);
      player.add_row(dim);
      player.fill(0, 500);
      player.play(0, {1, 6, 40, 1, 2});
      for (int64_t p = 500; p < 550; p += 7) {
        ASSERT_LT(player.error_at(0, p), player.tolerance())
            << codec->name() << " dim " << dim << " position " << p;
      }
    }
  }
}

TEST(AttendCodes, OfKeysMeetAnyFormOfValues) {
  const auto codecs = coded();
  std::vector<const Codec*> all = dense_codecs();
  for (const auto& codec : codecs) {
    all.push_back(codec.get());
  }
  int combination = 0;
  for (const Codec* keys : all) {
    for (const Codec* values : all) {
      AttendSetup setup{
          .spec = small_spec(3, 1, 128), .keys = keys, .values = values};
      setup.spec.softcap = combination++ % 4 == 0 ? 1.5f : 0.0f;
      Player player(setup);
      player.add_row(3);
      player.play(0, {75, 1, 3});
      for (int64_t p = 0; p < 79; p += 6) {
        ASSERT_LT(player.error_at(0, p), player.tolerance())
            << keys->name() << " keys, " << values->name() << " values";
      }
    }
  }
}

TEST(AttendCodes, GiveTheSameBitsForAnyChunksAndThreads) {
  for (const auto& codec : coded()) {
    AttendSetup setup{
        .spec = small_spec(5, 1, 128),
        .keys = codec.get(),
        .values = codec.get()};
    setup.spec.visibility = {.window = 200, .sinks = 2};
    Player whole(setup);
    whole.add_row(1);
    whole.play(0, {330});
    for (const int64_t size : {1, 3, 7, 90}) {
      setup.threads = static_cast<int>(1 + size % 2);
      Player player(setup);
      player.add_row(1);
      player.fill(0, 330 % size);
      player.play(0, std::vector<int64_t>(330 / size, size));
      ASSERT_TRUE(same_bits(whole.row(0), player.row(0)))
          << codec->name() << " chunks of " << size;
    }
  }
}

TEST(AttendCodes, GiveTheSameBitsOnEveryPath) {
  for (const auto& codec : coded()) {
    for (const int64_t dim : {80, 128, 256}) {
      AttendSetup setup{
          .spec = small_spec(3, 1, dim),
          .keys = codec.get(),
          .values = codec.get(),
          .path = KernelPath::kPlain};
      if (!fits(setup)) {
        continue;
      }
      Player expected(setup);
      expected.add_row(1);
      expected.fill(0, 250);
      expected.play(0, {1, 20, 5, 1});
      for (const KernelPath path : paths_here()) {
        setup.path = path;
        Player player(setup);
        player.add_row(1);
        player.fill(0, 250);
        player.play(0, {1, 20, 5, 1});
        ASSERT_TRUE(same_bits(expected.row(0), player.row(0)))
            << name(path) << " " << codec->name() << " " << dim;
      }
    }
  }
}

TEST(AttendCodes, GiveTheSameBitsOnEveryPathForEachNumberOfGroupedHeads) {
  for (const auto& codec : coded()) {
    for (const int64_t heads : {1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 17}) {
      AttendSetup setup{
          .spec = small_spec(heads, 1, 128),
          .keys = codec.get(),
          .values = codec.get(),
          .path = KernelPath::kPlain};
      Player expected(setup);
      expected.add_row(1);
      expected.fill(0, 93);
      expected.play(0, {1});
      for (const KernelPath path : paths_here()) {
        setup.path = path;
        Player player(setup);
        player.add_row(1);
        player.fill(0, 93);
        player.play(0, {1});
        ASSERT_TRUE(same_bits(expected.row(0), player.row(0)))
            << name(path) << " " << codec->name() << " " << heads << " heads";
      }
    }
  }
}

TEST(AttendCodes, RefuseAHeadSizeThatTheirCodecDoesNotStore) {
  const AffineCodec codec(4, 64);
  const AttentionSpec spec = small_spec(2, 1, 80);
  const Status status = supports_attend(spec, codec, codec, KernelPath::kPlain);
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
}

} // namespace
} // namespace holdfast::cpu
