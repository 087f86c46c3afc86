// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Records within the budget: those that stand for no node go last, and those
// whose time is over at once.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/tier/key_claims.h"
#include "holdfast/tier/record_claims.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

const ScopeText kScope{"model a"};
constexpr size_t kBody = 100000;
constexpr Bytes kAll(int64_t{1} << 40);

/// A body without nodes, as a generation's checkpoint is.
StoreBatch alone(ScopeId scope, const std::string& name) {
  StoreBatch batch;
  batch.scope = scope;
  batch.record = RecordToStore{};
  batch.record->space = "generation";
  batch.record->name = name;
  batch.record->body.assign(kBody, 'b');
  return batch;
}

RecordName named(int number) {
  return {"generation", std::to_string(number)};
}

class RecordEviction : public testing::Test {
 protected:
  RecordEviction() {
    rig_.options.max_bytes = Bytes(int64_t{2} << 20);
    tier_ = rig_.open();
    scope_ = tier_->scope(kScope).value();
  }
  Result<Stored> store_alone(int number) {
    return tier_->store(alone(scope_, std::to_string(number)));
  }
  /// A chat of one block with a record on it.
  Stored store_chat(int chat, int64_t expires_ns = 0) {
    StoreBatch batch = chat_batch(
        scope_, chat_tokens(chat, 64), std::to_string(chat), rig_.images);
    batch.record->expires_ns = expires_ns;
    return tier_->store(batch).value();
  }
  int64_t now() const {
    return rig_.clock->wall_ns();
  }

  TierRig rig_;
  std::unique_ptr<DiskTier> tier_;
  ScopeId scope_;
};

TEST_F(RecordEviction, TheCapBindsWhereNothingButBodiesIsStored) {
  std::vector<RecordName> gone;
  for (int number = 0; number < 60; ++number) {
    const auto stored = store_alone(number);
    ASSERT_TRUE(stored.ok()) << number << ": " << stored.status().text();
    const auto& more = stored.value().removed.records;
    gone.insert(gone.end(), more.begin(), more.end());
    ASSERT_LE(rig_.folder_bytes(), rig_.options.max_bytes) << number;
  }
  ASSERT_GT(gone.size(), 30u);
  for (size_t i = 0; i < gone.size(); ++i) {
    EXPECT_EQ(gone[i], named(static_cast<int>(i))) << "the oldest first";
  }
  EXPECT_EQ(tier_->record_body(named(59)).value(), std::string(kBody, 'b'));
  expect_consistent(*tier_);
}

TEST_F(RecordEviction, BodiesAloneGoAfterNodesAndObjects) {
  store_alone(0).value();
  store_chat(1);
  const std::string value(kBody, 'v');
  const ObjectToStore object{
      .space = "encoder", .key = "a", .bytes = std::as_bytes(std::span(value))};
  tier_->put_objects(std::span(&object, 1)).value();
  for (int time = 0; time < 2; ++time) {
    const Removed removed = tier_->evict(Bytes(1)).value();
    EXPECT_THAT(removed.records, testing::Not(Contains(named(0))));
  }
  EXPECT_EQ(tier_->stats().value().nodes, 0);
  EXPECT_EQ(tier_->stats().value().objects.count, 0);
  EXPECT_TRUE(tier_->record(named(0)).ok());
  EXPECT_THAT(tier_->evict(Bytes(1)).value().records, ElementsAre(named(0)));
}

TEST_F(RecordEviction, TheOneThatWasStoredAgainIsTheNewest) {
  for (const int number : {0, 1, 0}) {
    store_alone(number).value();
  }
  tier_->prune().value(); // the body that was replaced
  EXPECT_THAT(tier_->evict(Bytes(1)).value().records, ElementsAre(named(1)));
}

TEST_F(RecordEviction, NeverTakesABodyThatIsPinnedClaimedOrMapped) {
  for (int number = 0; number < 4; ++number) {
    store_alone(number).value();
  }
  ASSERT_TRUE(tier_->pin_record(named(0), true).ok());
  KeyClaims claims = tier_->claims();
  auto claimed = claims.claim(record_claim(named(1))).value();
  const auto other = rig_.open();
  MappedImage mapped = other->map(other->record(named(2)).value().body).value();
  EXPECT_THAT(tier_->evict(kAll).value().records, ElementsAre(named(3)));
  claimed.reset();
  EXPECT_THAT(tier_->evict(kAll).value().records, ElementsAre(named(1)));
  mapped = {};
  EXPECT_THAT(tier_->evict(kAll).value().records, ElementsAre(named(2)));
  ASSERT_TRUE(tier_->pin_record(named(0), false).ok());
  EXPECT_THAT(tier_->evict(kAll).value().records, ElementsAre(named(0)));
}

TEST_F(RecordEviction, NeverTakesTheLeafOfAClaimedRecord) {
  store_chat(1);
  store_chat(2);
  KeyClaims claims = tier_->claims();
  auto claimed = claims.claim(record_claim({"chat", "2"})).value();
  const auto other = rig_.open(); // as another process
  EXPECT_THAT(
      other->evict(kAll).value().records, ElementsAre(RecordName{"chat", "1"}));
  Offered all = offered(*other);
  EXPECT_EQ(all.restorable(chat_tokens(2, 64)), 64);
  claimed.reset();
  EXPECT_THAT(
      other->evict(kAll).value().records, ElementsAre(RecordName{"chat", "2"}));
}

TEST_F(RecordEviction, AClaimOfAFolderIsOfAllBelowIt) {
  for (const char* name : {"chat/a/3", "chat/a", "chat/ab/3", "chat/a/b/4"}) {
    tier_->store(alone(scope_, name)).value();
  }
  KeyClaims claims = tier_->claims();
  const auto folder =
      claims.claim(folder_claim({"generation", "chat/a"})).value();
  const auto one =
      claims.claim(record_claim({"generation", "chat/a/3"})).value();
  EXPECT_THAT(
      tier_->evict(kAll).value().records,
      ElementsAre(
          RecordName{"generation", "chat/a"},
          RecordName{"generation", "chat/ab/3"}));
}

TEST_F(RecordEviction, OneWhoseTimeIsOverIsNoneAtOnce) {
  store_chat(1, now() + 10);
  store_chat(2);
  EXPECT_EQ(tier_->records().value().size(), 2u);
  rig_.clock->set_wall_ns(now() + 10);
  const RecordName over{"chat", "1"};
  const auto none = [](const Status& status) {
    EXPECT_EQ(status.code(), ErrorCode::kNotFound) << status.text();
  };
  none(tier_->record(over).status());
  none(tier_->record_text(over).status());
  none(tier_->record_body(over).status());
  none(tier_->pin_record(over, true));
  EXPECT_EQ(tier_->records().value().size(), 1u);
  EXPECT_EQ(tier_->records("chat").value().size(), 1u);
  EXPECT_EQ(offered(*tier_).records.size(), 1u);
  EXPECT_EQ(tier_->forget(over).value().records.size(), 1u)
      << "what is left of it may be forgotten";
}

TEST_F(RecordEviction, APinOutlastsATimeToLive) {
  store_chat(1, now() + 10);
  ASSERT_TRUE(tier_->pin_record({"chat", "1"}, true).ok());
  rig_.clock->set_wall_ns(now() + 20);
  EXPECT_THAT(tier_->prune().value().records, IsEmpty());
  EXPECT_THAT(tier_->evict(kAll).value().records, IsEmpty());
  EXPECT_TRUE(tier_->record_text({"chat", "1"}).ok());
  ASSERT_TRUE(tier_->pin_record({"chat", "1"}, false).ok());
  EXPECT_FALSE(tier_->record_text({"chat", "1"}).ok());
  EXPECT_THAT(
      tier_->prune().value().records, ElementsAre(RecordName{"chat", "1"}));
}

TEST_F(RecordEviction, NeverTakesAnOpenChatThoughItsTimeIsOver) {
  const RecordName name{"chat", "1"};
  const Stored chat = store_chat(1, now() + 10);
  KeyClaims claims(rig_.memory, rig_.options.folder + "/claims");
  auto claimed = claims.claim(record_claim(name)).value();
  rig_.clock->set_wall_ns(now() + 20);
  ASSERT_TRUE(tier_->expire_nodes(chat.nodes, now()).ok());
  const auto other = rig_.open(); // as another process
  EXPECT_THAT(other->prune().value().records, IsEmpty());
  EXPECT_THAT(other->evict(kAll).value().records, IsEmpty());
  EXPECT_THAT(other->forget({"chat", "none"}).value().records, IsEmpty());
  for (DiskTier* tier : {tier_.get(), other.get()}) { // and is there for all
    EXPECT_TRUE(tier->record(name).ok());
    EXPECT_EQ(tier->records("chat").value().size(), 1u);
    EXPECT_EQ(tier->records().value().size(), 1u);
    EXPECT_EQ(tier->record_text(name).value().tokens, chat_tokens(1, 64));
    EXPECT_EQ(offered(*tier).records.size(), 1u);
  }
  claimed.reset();
  EXPECT_EQ(tier_->record(name).status().code(), ErrorCode::kNotFound);
  EXPECT_THAT(offered(*tier_).records, IsEmpty());
  EXPECT_THAT(tier_->prune().value().records, ElementsAre(name));
  EXPECT_EQ(tier_->stats().value().nodes, 0);
}

// What is stored meanwhile makes room of anything else.
TEST_F(RecordEviction, NeverMakesRoomOfAnOpenChatThoughItsTimeIsOver) {
  const RecordName name{"chat", "1"};
  store_chat(1, now() + 10);
  KeyClaims claims(rig_.memory, rig_.options.folder + "/claims");
  const auto claimed = claims.claim(record_claim(name)).value();
  rig_.clock->set_wall_ns(now() + 20);
  std::vector<RecordName> gone;
  for (int number = 0; number < 60; ++number) {
    const Removed more = store_alone(number).value().removed;
    gone.insert(gone.end(), more.records.begin(), more.records.end());
  }
  EXPECT_GT(gone.size(), 30u);
  EXPECT_THAT(gone, testing::Not(Contains(name)));
  Offered all;
  ASSERT_TRUE(tier_->load(all).ok());
  EXPECT_EQ(all.restorable(chat_tokens(1, 64)), 64);
  EXPECT_TRUE(all.records.contains(name));
}

TEST_F(RecordEviction, RoomIsMadeOfWhatExpiredFirst) {
  StoreBatch late = alone(scope_, "late");
  late.record->expires_ns = now() + 10;
  late.record->body.assign(2 * kBody, 'l');
  tier_->store(late).value();
  store_chat(1);
  rig_.clock->set_wall_ns(now() + 10);
  std::vector<RecordName> gone;
  for (int number = 0; gone.empty(); ++number) {
    const Stored stored = store_alone(number).value();
    gone = stored.removed.records;
  }
  EXPECT_THAT(gone, Contains(RecordName{"generation", "late"}));
  Offered all;
  ASSERT_TRUE(tier_->load(all).ok());
  EXPECT_EQ(all.restorable(chat_tokens(1, 64)), 64) << "its bytes were enough";
}

} // namespace
} // namespace holdfast::test
