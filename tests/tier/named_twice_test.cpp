// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Bytes of a segment that two rows of the manifest name, as a program that is
// wrong would leave it: the row that is right keeps them, the other one goes.

#include <gtest/gtest.h>

#include <string>

#include "tests/tier/manifest_sql.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

/// "records" or "objects": of the table the row that names an image as well.
class NamedTwice : public testing::TestWithParam<const char*> {
 protected:
  NamedTwice() {
    const auto tier = rig_.open();
    const ScopeId scope = tier->scope({"model a"}).value();
    tier->store(chat_batch(scope, tokens_, "a", rig_.images)).value();
    const std::string value(300, 'v');
    const ObjectToStore object{
        .space = "encoder",
        .key = "a",
        .bytes = std::as_bytes(std::span(value))};
    tier->put_objects(std::span(&object, 1)).value();
  }
  void name_image() const {
    run_sql(
        rig_.memory,
        std::string("UPDATE ") + GetParam() +
            " SET (segment, offset, bytes) = (SELECT segment, offset, bytes "
            "FROM images ORDER BY segment, offset LIMIT 1)");
  }
  /// That name bytes of a segment.
  size_t rows() const {
    return sql_texts(
               rig_.memory,
               std::string("SELECT id FROM ") + GetParam() +
                   " WHERE segment NOT NULL")
        .size();
  }

  TierRig rig_;
  const Tokens tokens_ = chat_tokens(1, 200);
};

TEST_P(NamedTwice, KeepsTheImageAndDropsTheOtherRow) {
  name_image();
  ASSERT_EQ(rows(), 1u);
  {
    const auto tier = rig_.open();
    Offered all;
    tier->load(all).check();
    const Extent image = all.nodes.begin()->second.stored.images[0].extent;
    EXPECT_EQ(tier->map(image).status().code(), ErrorCode::kNotFound)
        << "who asks may go by the row that is wrong";
    EXPECT_TRUE(tier->map(image).ok()) << "which is gone";
    ASSERT_EQ(tier->report().findings.size(), 1u);
    EXPECT_EQ(offered(*tier).restorable(tokens_), 200);
    EXPECT_TRUE(tier->verify().ok()); // counts what the row had left
    expect_consistent(*tier);
  }
  EXPECT_EQ(rows(), 0u);
}

TEST_P(NamedTwice, GivesNobodyTheImageForABodyOrAnObject) {
  name_image();
  const auto tier = rig_.open();
  const auto text = tier->record_text({"chat", "a"});
  EXPECT_TRUE(!text.ok() || text.value().body == "body of a at 200");
  const auto object = tier->object("encoder", "a");
  EXPECT_TRUE(!object.ok() || text_of(object.value()) == std::string(300, 'v'));
  EXPECT_NE(text.ok(), object.ok()) << "the other of the two is right";
}

// A file that is gone takes both rows with it, and the folder opens.
TEST_P(NamedTwice, GoesAsAWholeWithItsFile) {
  name_image();
  for (const std::string& path : segments_of(*rig_.memory, "/state")) {
    rig_.memory->remove(path).check();
  }
  {
    const auto tier = rig_.open();
    EXPECT_EQ(tier->stats().value().segments, 0);
    EXPECT_EQ(offered(*tier).restorable(tokens_), 0);
    expect_consistent(*tier);
  }
  EXPECT_EQ(rows(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    By,
    NamedTwice,
    testing::Values("records", "objects"),
    [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace holdfast::test
