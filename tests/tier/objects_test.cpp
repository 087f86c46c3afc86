// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Objects of a disk tier: exact keys, opaque bytes.

#include <gtest/gtest.h>

#include "tests/code_of.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Status put(DiskTier& tier, const std::string& key, const std::string& value) {
  const ObjectToStore object{
      .space = "encoder", .key = key, .bytes = bytes_of(value)};
  return tier.put_objects(std::span(&object, 1)).status();
}

TEST(DiskTierObjects, GivesBackExactlyWhatWasPut) {
  TierRig rig;
  const std::string keys[] = {"a", std::string("\0\xff", 2), "a/b"};
  {
    const auto tier = rig.open();
    for (const std::string& key : keys) {
      ASSERT_TRUE(put(*tier, key, "value of " + key).ok());
    }
  }
  const auto tier = rig.open();
  for (const std::string& key : keys) {
    EXPECT_EQ(text_of(tier->object("encoder", key).value()), "value of " + key);
  }
  EXPECT_EQ(tier->object("encoder", "b").status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(tier->object("other", "a").status().code(), ErrorCode::kNotFound);
  expect_consistent(*tier);
}

TEST(DiskTierObjects, OneSegmentHoldsAllOfACall) {
  TierRig rig;
  const auto tier = rig.open();
  const std::string values[] = {
      std::string(1, 'a'), std::string(4096, 'b'), std::string(4097, 'c')};
  std::vector<ObjectToStore> objects;
  for (const std::string& value : values) {
    objects.push_back(
        {.space = "encoder",
         .key = value.substr(0, 1),
         .bytes = bytes_of(value)});
  }
  ASSERT_TRUE(tier->put_objects(objects).ok());
  EXPECT_EQ(segments_of(*rig.memory, "/state").size(), 1u);
  for (const std::string& value : values) {
    EXPECT_EQ(
        text_of(tier->object("encoder", value.substr(0, 1)).value()), value);
  }
  EXPECT_EQ(tier->stats().value().objects.bytes, Bytes(1 + 4096 + 4097));
}

TEST(DiskTierObjects, AMappedValueOutlivesItsReplacement) {
  TierRig rig;
  const auto tier = rig.open();
  std::string value = "first";
  ASSERT_TRUE(put(*tier, "a", value).ok());
  value[0] = 'x'; // what was stored never aliases the caller's bytes
  const MappedImage first = tier->object("encoder", "a").value();
  EXPECT_EQ(text_of(first), "first");
  ASSERT_TRUE(put(*tier, "a", "second").ok());
  ASSERT_TRUE(tier->prune().ok());
  EXPECT_EQ(text_of(first), "first");
  EXPECT_EQ(text_of(tier->object("encoder", "a").value()), "second");
  EXPECT_EQ(tier->stats().value().objects.count, 1);
}

TEST(DiskTierObjects, ARemovedValueIsGoneFromTheFolder) {
  TierRig rig;
  const auto tier = rig.open();
  ASSERT_TRUE(put(*tier, "a", "secret").ok());
  ASSERT_TRUE(put(*tier, "b", "public").ok());
  EXPECT_EQ(tier->remove_object("encoder", "a").value().objects, 1);
  EXPECT_EQ(tier->remove_object("encoder", "a").value().objects, 0);
  EXPECT_EQ(segments_of(*rig.memory, "/state").size(), 1u);
  EXPECT_EQ(tier->remove_objects("encoder").value().objects, 1);
  EXPECT_TRUE(segments_of(*rig.memory, "/state").empty());
}

TEST(DiskTierObjects, ADamagedValueIsNotOfferedAgain) {
  TierRig rig;
  const auto tier = rig.open();
  ASSERT_TRUE(put(*tier, "a", "value").ok());
  flip(*rig.memory, segments_of(*rig.memory, "/state")[0], 4096 + 2);
  EXPECT_EQ(tier->object("encoder", "a").status().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(tier->object("encoder", "a").status().code(), ErrorCode::kNotFound);
  ASSERT_TRUE(put(*tier, "a", "value").ok());
  EXPECT_EQ(text_of(tier->object("encoder", "a").value()), "value");
}

TEST(DiskTierObjects, AnExpiredValueIsNotOffered) {
  TierRig rig;
  const auto tier = rig.open();
  const std::string value = "value";
  const ObjectToStore object{
      .space = "encoder",
      .key = "a",
      .bytes = bytes_of(value),
      .expires_ns = rig.clock->wall_ns() + 5};
  ASSERT_TRUE(tier->put_objects(std::span(&object, 1)).ok());
  EXPECT_TRUE(tier->object("encoder", "a").ok());
  rig.clock->set_wall_ns(rig.clock->wall_ns() + 5);
  EXPECT_EQ(tier->object("encoder", "a").status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(tier->prune().value().objects, 1);
}

TEST(DiskTierObjects, AnObjectInUseStaysWhenOthersAreEvicted) {
  TierRig rig;
  const auto tier = rig.open();
  ASSERT_TRUE(put(*tier, "old", "1").ok());
  ASSERT_TRUE(put(*tier, "new", "2").ok());
  EXPECT_TRUE(tier->object("encoder", "old").ok());
  EXPECT_EQ(tier->evict(Bytes(1)).value().objects, 1);
  EXPECT_TRUE(tier->object("encoder", "old").ok());
  EXPECT_FALSE(tier->object("encoder", "new").ok());
}

TEST(DiskTierObjects, RefusesAnObjectWithoutKeyOrBytes) {
  TierRig rig;
  const auto tier = rig.open();
  EXPECT_EQ(
      code_of([&] { std::ignore = put(*tier, "", "1"); }),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      code_of([&] { std::ignore = put(*tier, "1", ""); }),
      ErrorCode::kInvalidArgument);
  EXPECT_TRUE(tier->put_objects({}).ok());
}

} // namespace
} // namespace holdfast::test
