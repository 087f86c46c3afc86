// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What is forgotten is in no byte of the folder, at once or, where somebody has
// it mapped, from the first sweep after that on.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/base/key_hash.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

const ScopeText kScope{"model a"};

/// Every byte of every file of the folder.
std::string everything(FileSystem& files, const std::string& path) {
  std::string all;
  for (const std::string& name : names_in(files, path)) {
    const std::string at = path + "/" + name;
    const FileFacts facts = files.facts(at).value();
    if (facts.kind == FileFacts::Kind::kFolder) {
      all += everything(files, at);
      continue;
    }
    std::string bytes(static_cast<size_t>(facts.size.get()), '\0');
    files.open(at, FileSystem::Access::kRead)
        .value()
        ->read(Bytes(0), std::as_writable_bytes(std::span(bytes)))
        .check();
    all += bytes;
  }
  return all;
}

std::string raw(const Tokens& tokens, size_t begin, size_t count) {
  return {
      reinterpret_cast<const char*>(tokens.data() + begin),
      count * sizeof(int32_t)};
}

class Forget : public testing::TestWithParam<bool> {
 protected:
  Forget() {
    rig_.memory->set_can_punch(GetParam());
    tier_ = rig_.open();
    scope_ = tier_->scope(kScope).value();
    // 128 tokens that both share; a's turns leave a superseded tail.
    turn(kSecret, 140);
    turn(kSecret, 200);
    turn(kOther, 200);
  }

  struct Chat {
    const char* name;
    int number;
  };
  static constexpr Chat kSecret{"a", 1};
  static constexpr Chat kOther{"b", 2};

  static Tokens tokens_of(Chat chat, int64_t count) {
    return chat_tokens(chat.number, count, 128);
  }

  void turn(Chat chat, int64_t count) {
    StoreBatch batch =
        chat_batch(scope_, tokens_of(chat, count), chat.name, rig_.images);
    if (tail_ != NodeId() && chat.number == kSecret.number) {
      batch.nodes[2].supersedes = {tail_};
    }
    const Stored stored = tier_->store(batch).value();
    if (chat.number == kSecret.number) {
      tail_ = stored.nodes[2];
      extent_ = stored.images[2][0];
    }
  }

  /// What only the forgotten chat had: tokens, images, its record's body.
  void expect_gone() const {
    const std::string all = everything(*rig_.memory, "/state");
    const Tokens tokens = tokens_of(kSecret, 200);
    EXPECT_EQ(all.find(raw(tokens, 128, 4)), all.npos);
    EXPECT_EQ(all.find(raw(tokens, 192, 4)), all.npos);
    EXPECT_EQ(all.find("body of a"), all.npos);
    for (const size_t end : {140, 192, 200}) {
      const Tokens path(tokens.begin(), tokens.begin() + long(end));
      for (const ImageSlot slot : {kFull, kSliding}) {
        const std::string image = Images::text(path, slot);
        EXPECT_EQ(all.find(image.substr(0, 64)), all.npos) << end;
        EXPECT_EQ(all.find(image.substr(image.size() - 64)), all.npos) << end;
      }
    }
    // And what the other one has is all there.
    EXPECT_EQ(offered(*tier_).restorable(tokens_of(kOther, 200)), 200);
    EXPECT_NE(all.find(raw(tokens, 0, 64)), all.npos);
    expect_consistent(*tier_);
  }

  TierRig rig_;
  std::unique_ptr<DiskTier> tier_;
  ScopeId scope_;
  NodeId tail_;
  Extent extent_; // of an image that only the secret chat has
};

TEST_P(Forget, LeavesNoByteOfWhatNothingElseShares) {
  const Removed removed = tier_->forget({"chat", "a"}).value();
  EXPECT_EQ(removed.nodes.size(), 2u);
  EXPECT_EQ(removed.records.size(), 1u);
  EXPECT_EQ(removed.unerased, Bytes(0));
  EXPECT_EQ(removed.held > Bytes(0), !GetParam()) << "room stays without holes";
  expect_gone();
}

TEST_P(Forget, WhatIsMappedIsErasedByTheFirstSweepAfterwards) {
  {
    const MappedImage image = tier_->map(extent_).value();
    const std::string before = text_of(image);
    const Removed removed = tier_->forget({"chat", "a"}).value();
    EXPECT_GT(removed.unerased, Bytes(0));
    EXPECT_GT(tier_->prune().value().unerased, Bytes(0)) << "it says so again";
    EXPECT_EQ(text_of(image), before);
  }
  EXPECT_EQ(tier_->prune().value().unerased, Bytes(0));
  expect_gone();
}

TEST_P(Forget, TheNextOpeningErasesWhatAProcessHadMappedWhenItDied) {
  const MappedImage image = tier_->map(extent_).value();
  EXPECT_GT(tier_->forget({"chat", "a"}).value().unerased, Bytes(0));
  rig_.memory = rig_.memory->power_loss(
      {.keep = PowerLoss::Keep::kEverything, .seed = 0});
  rig_.memory->set_can_punch(GetParam());
  rig_.options.files = rig_.memory;
  tier_ = rig_.open();
  expect_gone();
}

TEST_P(Forget, ObjectsThatWereRemovedOrReplacedAreGoneToo) {
  const auto put = [&](const std::string& key, const std::string& value) {
    const ObjectToStore object{
        .space = "encoder",
        .key = key,
        .bytes = std::as_bytes(std::span(value.data(), value.size()))};
    tier_->put_objects(std::span(&object, 1)).value();
  };
  put("1", "the first secret");
  put("1", "the second secret");
  put("2", "a value that stays");
  EXPECT_EQ(tier_->remove_object("encoder", "1").value().unerased, Bytes(0));
  const std::string all = everything(*rig_.memory, "/state");
  EXPECT_EQ(all.find("secret"), all.npos);
  EXPECT_NE(all.find("a value that stays"), all.npos);
}

TEST_P(Forget, ManifestsThatWereSetAsideGoWithWhatTheyName) {
  const std::string secret = raw(tokens_of(kSecret, 200), 128, 4);
  for (const bool all : {false, true}) {
    tier_.reset();
    flip(*rig_.memory, "/state/manifest.db", 2000);
    tier_ = rig_.open();
    EXPECT_NE(everything(*rig_.memory, "/state").find(secret), secret.npos);
    const Removed removed = all ? tier_->forget_all().value()
                                : tier_->forget({"chat", "a"}).value();
    EXPECT_GT(removed.freed, Bytes(0));
    EXPECT_EQ(everything(*rig_.memory, "/state").find(secret), secret.npos);
    for (const std::string& name : rig_.names()) {
      EXPECT_EQ(name.find(".aside"), name.npos) << name;
    }
    scope_ = tier_->scope(kScope).value();
    tail_ = {};
    turn(kSecret, 200);
  }
}

/// Texts beside records: branches that were left, answers that were cut off.
class ForgetTexts : public testing::Test {
 protected:
  ForgetTexts() : tier_(rig_.open()), scope_(tier_->scope(kScope).value()) {}

  static Tokens text(int chat, int64_t count, int64_t fork = 0) {
    return chat_tokens(chat, count, fork);
  }
  void put(const Tokens& tokens) {
    tier_->store(path_batch(scope_, tokens, rig_.images)).value();
  }
  Stored put(const Tokens& tokens, const char* name) {
    return tier_->store(chat_batch(scope_, tokens, name, rig_.images)).value();
  }
  Forgotten forget(ForgetRequest request) {
    Forgotten forgotten = tier_->forget(request).value();
    expect_consistent(*tier_);
    return forgotten;
  }
  int64_t restorable(const Tokens& tokens) {
    return offered(*tier_).restorable(tokens);
  }
  bool on_disk(const Tokens& tokens, size_t begin, size_t count) const {
    return everything(*rig_.memory, "/state").find(raw(tokens, begin, count)) !=
        std::string::npos;
  }

  TierRig rig_;
  std::unique_ptr<DiskTier> tier_;
  ScopeId scope_;
};

TEST_F(ForgetTexts, ABranchOfNoRecordGoesAndTheTrunkStaysForWhoNeedsIt) {
  put(text(1, 200, 128));
  put(text(2, 200, 128), "b");
  put(text(3, 200, 128)); // nobody's, but not of the text
  const Forgotten gone =
      forget({.records = {}, .texts = {text(1, 200, 128)}, .kept = {}});
  EXPECT_EQ(gone.removed.nodes.size(), 2u);
  EXPECT_FALSE(on_disk(text(1, 200, 128), 128, 8));
  EXPECT_EQ(restorable(text(2, 200, 128)), 200);
  EXPECT_EQ(restorable(text(3, 200, 128)), 200);
}

TEST_F(ForgetTexts, TheTrunkGoesWithTheLastBranchThatNeedsIt) {
  put(text(1, 200, 128));
  put(text(2, 200, 128), "b");
  forget(
      {.records = {{"chat", "b"}},
       .texts = {text(1, 200, 128), text(2, 200, 128)},
       .kept = {}});
  EXPECT_EQ(tier_->stats().value().nodes, 0);
  EXPECT_FALSE(on_disk(text(0, 128), 0, 8));
}

TEST_F(ForgetTexts, WhatGoesOnAfterATextGoesUnlessARecordNeedsIt) {
  put(text(1, 300)); // an answer that was killed
  put(text(1, 100), "question");
  forget(
      {.records = {{"chat", "question"}}, .texts = {text(1, 100)}, .kept = {}});
  EXPECT_EQ(tier_->stats().value().nodes, 0);
  put(text(1, 300), "longer");
  forget({.records = {}, .texts = {text(1, 100)}, .kept = {}});
  EXPECT_EQ(restorable(text(1, 300)), 300);
}

TEST_F(ForgetTexts, AnotherTextsStateStaysThoughNoRecordEndsThere) {
  put(text(1, 200, 128));
  put(text(2, 250, 128));
  forget(
      {.records = {},
       .texts = {text(1, 200, 128), text(0, 128)},
       .kept = {text(2, 250, 128)}});
  EXPECT_FALSE(on_disk(text(1, 200, 128), 128, 8));
  EXPECT_EQ(restorable(text(2, 250, 128)), 250);
}

TEST_F(ForgetTexts, ABlockIsCutWhereAnotherRecordEndsInIt) {
  for (const int64_t end : {40, 140}) { // in the first block, and behind others
    const NodeId tail = put(text(1, end), "a").nodes.back();
    StoreBatch longer = chat_batch(scope_, text(1, 200), "b", rig_.images);
    longer.nodes[static_cast<size_t>(end / 64)].supersedes = {tail};
    tier_->store(longer).value();
    const Forgotten gone = forget(
        {.records = {{"chat", "b"}}, .texts = {text(1, 200)}, .kept = {}});
    EXPECT_EQ(gone.shortened, 1);
    EXPECT_TRUE(gone.rests.empty());
    EXPECT_FALSE(on_disk(text(1, 200), static_cast<size_t>(end), 8));
    EXPECT_EQ(tier_->record_text({"chat", "a"}).value().tokens, text(1, end));
    EXPECT_EQ(restorable(text(1, end)), end / 64 * 64);
    put(text(1, end), "a"); // computed again
    const NodeId leaf = tier_->record({"chat", "a"}).value().leaf;
    EXPECT_EQ(tier_->path(leaf).value().back().images.size(), 2u);
    tier_->forget_all().value();
  }
}

TEST_F(ForgetTexts, TokensStayThatCannotBeCutAndAreNamed) {
  const NodeId tail = put(text(1, 40), "a").nodes.back();
  StoreBatch longer = chat_batch(scope_, text(1, 64), "b", rig_.images);
  longer.nodes[0].marks = "marks";
  tier_->store(longer).value();
  StoreBatch shorter = chat_batch(scope_, text(1, 64), "a", rig_.images);
  shorter.nodes[0].marks = "marks";
  shorter.record->length = Position(40);
  tier_->store(shorter).value();
  ASSERT_NE(tail, NodeId());
  const Forgotten gone =
      forget({.records = {{"chat", "b"}}, .texts = {text(1, 64)}, .kept = {}});
  ASSERT_EQ(gone.rests.size(), 1u);
  EXPECT_EQ(gone.rests[0].record, (RecordName{"chat", "a"}));
  EXPECT_EQ(gone.rests[0].tokens, 24);
  EXPECT_TRUE(on_disk(text(1, 64), 40, 8));
}

INSTANTIATE_TEST_SUITE_P(
    FileSystems,
    Forget,
    testing::Bool(),
    [](const auto& info) { return info.param ? "Punching" : "NoPunching"; });

} // namespace
} // namespace holdfast::test
