// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What every registered codec keeps, whatever it stores.

#include "holdfast/codec/codec.h"

#include <gtest/gtest.h>

#include <set>

#include "codec_support.h"

namespace holdfast {
namespace {

class AnyCodec : public ::testing::TestWithParam<const Codec*> {
 protected:
  const Codec& codec() const {
    return *GetParam();
  }
  /// Head sizes that it stores.
  std::vector<int64_t> dims() const {
    std::vector<int64_t> dims{32, 64, 80, 96, 128, 192, 256, 512};
    std::erase_if(dims, [&](int64_t dim) {
      return !codec().supports(ChannelRole::kKeys, dim).ok();
    });
    return dims;
  }
};

TEST_P(AnyCodec, GivesBackEverySlotWhateverTheOrderOfWriting) {
  for (const ChannelRole role : kRoles) {
    for (const int64_t dim : dims()) {
      Head head(codec(), role, dim, 0xff);
      for (int64_t i = 0; i < kBlockTokens; ++i) {
        const int64_t slot = i * 37 % kBlockTokens;
        codec().encode(role, random_values(dim, slot), slot, head.pointers);
      }
      std::vector<float> got(dim);
      for (int64_t slot = 0; slot < kBlockTokens; ++slot) {
        codec().decode(role, head.read(), slot, got);
        ASSERT_NO_FATAL_FAILURE(
            expect_close(codec(), random_values(dim, slot), got))
            << "dim " << dim << " slot " << slot;
      }
    }
  }
}

TEST_P(AnyCodec, StoresATokenWithTheSameBitsInEverySlotAndRole) {
  for (const int64_t dim : dims()) {
    const std::vector<float> x = random_values(dim, 7);
    const std::vector<float> first = through(codec(), ChannelRole::kKeys, x);
    for (const ChannelRole role : kRoles) {
      for (const int64_t slot : {1, 15, 31, 32, 63}) {
        ASSERT_EQ(through(codec(), role, x, slot), first)
            << codec().name() << " dim " << dim << " slot " << slot;
      }
    }
  }
}

TEST_P(AnyCodec, KeepsZeroVectorsZero) {
  for (const int64_t dim : dims()) {
    for (const float zero : {0.0f, -0.0f}) {
      const std::vector<float> x(dim, zero);
      for (const float y : through(codec(), ChannelRole::kValues, x)) {
        ASSERT_EQ(y, 0.0f);
      }
    }
  }
}

TEST_P(AnyCodec, BytesDependOnTheTokensAloneAndNotOnWhatWasThere) {
  for (const ChannelRole role : kRoles) {
    for (const int64_t dim : dims()) {
      Head fresh(codec(), role, dim, 0x00);
      Head used(codec(), role, dim, 0xff);
      for (int64_t slot = 0; slot < kBlockTokens; ++slot) {
        codec().encode(role, random_values(dim, slot), slot, fresh.pointers);
        codec().encode(
            role, random_values(dim, slot + 99), slot, used.pointers);
      }
      for (int64_t slot = kBlockTokens - 1; slot >= 0; --slot) {
        codec().encode(role, random_values(dim, slot), slot, used.pointers);
      }
      ASSERT_EQ(fresh.bytes, used.bytes) << codec().name() << " dim " << dim;
    }
  }
}

TEST_P(AnyCodec, LeavesOtherSlotsAlone) {
  for (const ChannelRole role : kRoles) {
    const int64_t dim = dims().front();
    Head head(codec(), role, dim, 0);
    std::vector<std::vector<float>> before(kBlockTokens);
    for (int64_t slot = 0; slot < kBlockTokens; ++slot) {
      codec().encode(role, random_values(dim, slot), slot, head.pointers);
      before[slot].resize(dim);
      codec().decode(role, head.read(), slot, before[slot]);
    }
    codec().encode(role, random_values(dim, 99), 21, head.pointers);
    std::vector<float> got(dim);
    for (int64_t slot = 0; slot < kBlockTokens; ++slot) {
      codec().decode(role, head.read(), slot, got);
      ASSERT_EQ(got == before[slot], slot != 21) << "slot " << slot;
    }
  }
}

TEST_P(AnyCodec, RefusesSlotsPlanesAndSizesThatAreNotThere) {
  const int64_t dim = dims().front();
  const std::vector<float> vector(dim);
  std::vector<float> out(dim);
  Head head(codec(), ChannelRole::kKeys, dim, 0);
  for (const int64_t slot : {int64_t{-1}, kBlockTokens}) {
    EXPECT_THROW(
        codec().encode(ChannelRole::kKeys, vector, slot, head.pointers), Error);
    EXPECT_THROW(
        codec().decode(ChannelRole::kKeys, head.read(), slot, out), Error);
  }
  EXPECT_THROW(codec().encode(ChannelRole::kKeys, vector, 0, {}), Error);
  for (const int64_t odd : {0, 100, 640}) {
    EXPECT_THROW(codec().planes(ChannelRole::kKeys, odd), Error);
    const Status status = codec().supports(ChannelRole::kValues, odd);
    EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
    EXPECT_NE(status.text().find(std::to_string(odd)), std::string::npos);
    EXPECT_NE(status.text().find("no codec fits"), std::string::npos)
        << status.text();
  }
}

TEST_P(AnyCodec, NamesACodecThatFitsWhereItDoesNot) {
  for (int64_t dim = 16; dim <= 512; dim += 16) {
    const Status status = codec().supports(ChannelRole::kKeys, dim);
    if (!status.ok()) {
      const std::string text =
          status.text().substr(status.text().find(';') + 2);
      const std::string other = text.substr(0, text.find(' '));
      EXPECT_TRUE(
          find_codec(other).value()->supports(ChannelRole::kKeys, dim).ok())
          << status.text();
    }
  }
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
  EXPECT_EQ(find_codec("q4g64").value(), find_codec("q4").value());
  for (const char* name :
       {"q7",
        "t6",
        "t4g64",
        "Q8",
        "q4g16",
        "q4g32g64",
        "q4g64g64",
        "bf16 ",
        ""}) {
    const Status status = find_codec(name).status();
    EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument) << name;
    for (const Codec* codec : all_codecs()) {
      EXPECT_NE(status.text().find(codec->name()), std::string::npos);
    }
  }
}

TEST(CodecRegistry, KeepsTheIdsThatStoredBlocksName) {
  EXPECT_EQ(find_codec("f32").value()->id(), "dense.f32.1");
  EXPECT_EQ(find_codec("f16").value()->id(), "dense.f16.1");
  EXPECT_EQ(find_codec("bf16").value()->id(), "dense.bf16.1");
  EXPECT_EQ(find_codec("q8").value()->id(), "affine.8.g64.f16.1");
  EXPECT_EQ(find_codec("q6").value()->id(), "affine.6.g64.bf16.1");
  EXPECT_EQ(find_codec("q3g128").value()->id(), "affine.3.g128.bf16.1");
  EXPECT_EQ(find_codec("t4").value()->id(), "turbo.4.hadamard.seed1.f32.1");
}

TEST(CodecRegistry, TellsFormsApartByValue) {
  std::vector<CodecForm> seen;
  for (const Codec* codec : all_codecs()) {
    const CodecForm form = codec->form();
    for (const CodecForm& other : seen) {
      EXPECT_FALSE(form == other) << codec->name();
    }
    seen.push_back(form);
  }
  const CodecForm form = find_codec("q3g32").value()->form();
  EXPECT_EQ(form.kind, CodecKind::kAffine);
  EXPECT_EQ(form.bits, 3);
  EXPECT_EQ(form.group, 32);
}

} // namespace
} // namespace holdfast
