// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/convert.h"

#include <gtest/gtest.h>

#include "codec_support.h"
#include "holdfast/base/bits.h"

namespace holdfast {
namespace {

constexpr int64_t kDim = 128;

/// A head with `slots` tokens, all other bytes 0x5a.
void fill(const Codec& codec, ChannelRole role, int64_t slots, Head& head) {
  for (int64_t slot = 0; slot < slots; ++slot) {
    codec.encode(role, random_values(kDim, slot), slot, head.pointers);
  }
}

TEST(Convert, GivesTheBytesOfEncodingTheStoredVectorsForEveryPairOfCodecs) {
  for (const ChannelRole role : kRoles) {
    for (const Codec* from : all_codecs()) {
      Head source(*from, role, kDim, 0x5a);
      fill(*from, role, 20, source);
      for (const Codec* to : all_codecs()) {
        Head expected(*to, role, kDim, 0x5a);
        std::vector<float> vector(kDim);
        for (int64_t slot = 0; slot < 20; ++slot) {
          from->decode(role, source.read(), slot, vector);
          to->encode(role, vector, slot, expected.pointers);
        }
        Head got(*to, role, kDim, 0x5a);
        convert_slots(
            *from,
            *to,
            {.role = role,
             .head_dim = kDim,
             .slots = 20,
             .from = source.read(),
             .to = got.pointers});
        ASSERT_EQ(got.bytes, expected.bytes)
            << from->name() << " to " << to->name();
      }
    }
  }
}

TEST(Convert, FromBf16GivesTheBytesOfTheOriginalVectors) {
  const Codec& bf16 = *find_codec("bf16").value();
  for (const Codec* to : all_codecs()) {
    const CodecKind kind = to->form().kind;
    if (kind != CodecKind::kAffine && kind != CodecKind::kTurbo) {
      continue;
    }
    Head dense(bf16, ChannelRole::kKeys, kDim, 0);
    fill(bf16, ChannelRole::kKeys, kBlockTokens, dense);
    Head expected(*to, ChannelRole::kKeys, kDim, 0);
    fill(*to, ChannelRole::kKeys, kBlockTokens, expected);
    Head got(*to, ChannelRole::kKeys, kDim, 0xff);
    convert_slots(
        bf16,
        *to,
        {.role = ChannelRole::kKeys,
         .head_dim = kDim,
         .slots = kBlockTokens,
         .from = dense.read(),
         .to = got.pointers});
    EXPECT_EQ(got.bytes, expected.bytes) << to->name();
  }
}

TEST(Convert, RefusesWhatDoesNotFitAndWritesNothing) {
  const Codec& from = *find_codec("bf16").value();
  const Codec& to = *find_codec("q4").value();
  Head source(from, ChannelRole::kKeys, kDim, 0);
  Head target(to, ChannelRole::kKeys, kDim, 0x77);
  const auto before = target.bytes;
  Conversion job{
      .role = ChannelRole::kKeys,
      .head_dim = kDim,
      .slots = kBlockTokens + 1,
      .from = source.read(),
      .to = target.pointers};
  EXPECT_THROW(convert_slots(from, to, job), Error);
  job.slots = -1;
  EXPECT_THROW(convert_slots(from, to, job), Error);
  job.slots = 3;
  job.head_dim = 80;
  EXPECT_THROW(convert_slots(from, to, job), Error);
  job.head_dim = kDim;
  EXPECT_THROW(convert_slots(to, to, job), Error);
  job.to = job.to.first(2);
  EXPECT_THROW(convert_slots(from, to, job), Error);
  EXPECT_EQ(target.bytes, before);
}

} // namespace
} // namespace holdfast
