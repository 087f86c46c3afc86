// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What every registered codec keeps, whatever it stores.

#include "holdfast/codec/codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

namespace holdfast {
namespace {

constexpr ChannelRole kRoles[] = {ChannelRole::kKeys, ChannelRole::kValues};

/// One head's planes, all bytes `fill`.
struct Head {
  Head(const Codec& codec, ChannelRole role, int64_t dim, int fill) {
    for (const PlaneSpec& plane : codec.planes(role, dim)) {
      bytes.emplace_back(plane.bytes.get(), std::byte(fill));
    }
    for (auto& plane : bytes) {
      pointers.push_back(plane.data());
    }
  }
  std::span<const std::byte* const> read() const {
    return {
        const_cast<const std::byte* const*>(pointers.data()), pointers.size()};
  }
  std::vector<std::vector<std::byte>> bytes;
  std::vector<std::byte*> pointers;
};

std::vector<float> random_vector(int64_t dim, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> vector(dim);
  for (float& x : vector) {
    x = normal(random);
  }
  return vector;
}

class AnyCodec : public ::testing::TestWithParam<const Codec*> {
 protected:
  const Codec& codec() const {
    return *GetParam();
  }
};

TEST_P(AnyCodec, GivesBackEverySlotWhateverTheOrderOfWriting) {
  for (const ChannelRole role : kRoles) {
    for (const int64_t dim : {64, 80, 96, 128, 192, 256}) {
      Head head(codec(), role, dim, 0xff);
      for (int64_t i = 0; i < kBlockTokens; ++i) {
        const int64_t slot = i * 37 % kBlockTokens;
        codec().encode(role, random_vector(dim, slot), slot, head.pointers);
      }
      std::vector<float> got(dim);
      for (int64_t slot = 0; slot < kBlockTokens; ++slot) {
        codec().decode(role, head.read(), slot, got);
        const std::vector<float> expected = random_vector(dim, slot);
        for (int64_t d = 0; d < dim; ++d) {
          ASSERT_NEAR(got[d], expected[d], 0x1p-8 * std::abs(expected[d]))
              << codec().name() << " dim " << dim << " slot " << slot;
        }
      }
    }
  }
}

TEST_P(AnyCodec, DecodedVectorsEncodeToTheSameBytes) {
  for (const ChannelRole role : kRoles) {
    Head first(codec(), role, 80, 0);
    Head second(codec(), role, 80, 0);
    std::vector<float> vector(80);
    for (int64_t slot = 0; slot < kBlockTokens; ++slot) {
      codec().encode(role, random_vector(80, slot), slot, first.pointers);
      codec().decode(role, first.read(), slot, vector);
      codec().encode(role, vector, slot, second.pointers);
    }
    EXPECT_EQ(first.bytes, second.bytes);
  }
}

TEST_P(AnyCodec, BytesDependOnTheTokensAloneAndNotOnWhatWasThere) {
  for (const ChannelRole role : kRoles) {
    Head fresh(codec(), role, 96, 0x00);
    Head used(codec(), role, 96, 0xff);
    for (int64_t slot = 0; slot < kBlockTokens; ++slot) {
      codec().encode(role, random_vector(96, slot), slot, fresh.pointers);
      codec().encode(role, random_vector(96, slot + 99), slot, used.pointers);
    }
    for (int64_t slot = kBlockTokens - 1; slot >= 0; --slot) {
      codec().encode(role, random_vector(96, slot), slot, used.pointers);
    }
    EXPECT_EQ(fresh.bytes, used.bytes) << codec().name();
  }
}

TEST_P(AnyCodec, LeavesOtherSlotsAlone) {
  for (const ChannelRole role : kRoles) {
    Head head(codec(), role, 64, 0);
    codec().encode(role, random_vector(64, 1), 20, head.pointers);
    const auto before = head.bytes;
    codec().encode(role, random_vector(64, 2), 21, head.pointers);
    std::vector<float> got(64), expected(64);
    codec().decode(role, head.read(), 20, got);
    head.bytes = before;
    for (size_t p = 0; p < head.bytes.size(); ++p) {
      head.pointers[p] = head.bytes[p].data();
    }
    codec().decode(role, head.read(), 20, expected);
    EXPECT_EQ(got, expected);
  }
}

TEST_P(AnyCodec, RefusesSlotsPlanesAndSizesThatAreNotThere) {
  const std::vector<float> vector(64);
  std::vector<float> out(64);
  Head head(codec(), ChannelRole::kKeys, 64, 0);
  for (const int64_t slot : {int64_t{-1}, kBlockTokens}) {
    EXPECT_THROW(
        codec().encode(ChannelRole::kKeys, vector, slot, head.pointers), Error);
    EXPECT_THROW(
        codec().decode(ChannelRole::kKeys, head.read(), slot, out), Error);
  }
  EXPECT_THROW(codec().encode(ChannelRole::kKeys, vector, 0, {}), Error);
  EXPECT_THROW(codec().planes(ChannelRole::kKeys, 100), Error);
  const Status status = codec().supports(ChannelRole::kValues, 100);
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_NE(status.text().find("100"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Registered,
    AnyCodec,
    ::testing::ValuesIn(all_codecs()),
    [](const auto& info) { return info.param->name(); });

TEST(CodecRegistry, FindsEachCodecByItsNameAndNoOther) {
  std::set<std::string> ids;
  for (const Codec* codec : all_codecs()) {
    EXPECT_EQ(find_codec(codec->name()).value(), codec);
    ids.insert(codec->id());
  }
  EXPECT_EQ(ids.size(), all_codecs().size());
  const Status status = find_codec("q4").status();
  EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
  for (const Codec* codec : all_codecs()) {
    EXPECT_NE(status.text().find(codec->name()), std::string::npos);
  }
}

TEST(CodecRegistry, KeepsTheIdsThatStoredBlocksName) {
  EXPECT_EQ(find_codec("f32").value()->id(), "dense.f32.1");
  EXPECT_EQ(find_codec("f16").value()->id(), "dense.f16.1");
  EXPECT_EQ(find_codec("bf16").value()->id(), "dense.bf16.1");
}

} // namespace
} // namespace holdfast
