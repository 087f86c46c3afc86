// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Stores that come while another is committed are named in the manifest
// together; each of them by itself is there whole or not at all.

#include "holdfast/tier/group_commit.h"

#include <atomic>
#include <barrier>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/env/faulty_file_system.h"
#include "holdfast/tier/disk_tier_core.h"
#include "tests/tier/sync_hook.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

const ScopeText kScope{"model a"};

/// A part whose rows are a scope.
class ScopePart : public CommitPart {
 public:
  ScopePart(DiskTierCore& core, const char* text, std::function<void()> then)
      : core_(core), text_({text}), then_(std::move(then)) {}
  Bytes add() override {
    core_.manifest().add_scope(text_);
    then_();
    return Bytes(1); // as though it had a file
  }
  const Removed& removed() const override {
    return removed_;
  }
  void committed() override {
    told = true;
  }
  std::atomic<bool> told{false};

 private:
  DiskTierCore& core_;
  const ScopeText text_;
  const std::function<void()> then_;
  const Removed removed_;
};

class Group : public testing::Test {
 protected:
  Group() {
    rig_.options.files = faulty_;
    rig_.open(); // makes the folder
    core_.emplace(rig_.options);
    core_->folder->enter();
  }
  /// Commits "a", and while it is at work lets others come: "b", "c", "d", of
  /// which one may do something more.
  void commit(const std::function<void()>& then = [] {}) {
    std::vector<std::thread> others;
    std::vector<std::unique_ptr<ScopePart>> parts;
    for (const char* text : {"b", "c", "d"}) {
      parts.push_back(std::make_unique<ScopePart>(
          *core_, text, *text == 'c' ? then : [] {}));
    }
    const auto come = [&] {
      for (size_t i = 0; i < parts.size(); ++i) {
        others.emplace_back([&, i] {
          statuses_[i] = core_->commits.commit(*parts[i]);
          EXPECT_EQ(statuses_[i].ok(), parts[i]->told);
        });
      }
      while (core_->commits.waiting() < parts.size()) {
        std::this_thread::yield();
      }
    };
    ScopePart first(*core_, "a", come);
    EXPECT_TRUE(core_->commits.commit(first).ok());
    EXPECT_TRUE(first.told);
    for (std::thread& other : others) {
      other.join();
    }
  }
  bool has(const char* text) {
    bool found = false;
    core_
        ->run(
            [&] { found = core_->manifest().find_scope({text}) != ScopeId(); })
        .check();
    return found;
  }

  TierRig rig_;
  const std::shared_ptr<FaultyFileSystem> faulty_ =
      std::make_shared<FaultyFileSystem>(rig_.memory);
  std::optional<DiskTierCore> core_;
  Status statuses_[3];
};

TEST_F(Group, ThatCameDuringACommitIsCommittedWithOne) {
  const auto syncs = [&] {
    const FileCounts counts = rig_.memory->counts();
    return counts.syncs + counts.folder_syncs;
  };
  int64_t before = 0;
  for (const char* text : {"x", "y"}) { // the first one makes the journal
    before = syncs();
    ScopePart alone(*core_, text, [] {});
    ASSERT_TRUE(core_->commits.commit(alone).ok());
  }
  const int64_t cost = syncs() - before;
  before = syncs();
  commit();
  EXPECT_EQ(syncs() - before, 2 * cost) << "of \"a\", and of the rest";
  for (const Status& status : statuses_) {
    EXPECT_TRUE(status.ok()) << status.text();
  }
  for (const char* text : {"a", "b", "c", "d"}) {
    EXPECT_TRUE(has(text)) << text;
  }
}

TEST_F(Group, LosesThePartThatThrowsAndNoOther) {
  commit([] { throw Error(ErrorCode::kStale, "[test] newer"); });
  EXPECT_TRUE(statuses_[0].ok());
  EXPECT_EQ(statuses_[1].code(), ErrorCode::kStale);
  EXPECT_TRUE(statuses_[2].ok());
  EXPECT_TRUE(has("a") && has("b") && has("d"));
  EXPECT_FALSE(has("c"));
}

TEST_F(Group, IsNotThereWhereItsCommitFails) {
  commit([&] { faulty_->fail({.once = false, .only = FileCall::kSync}); });
  faulty_->heal();
  for (const Status& status : statuses_) {
    EXPECT_EQ(status.code(), ErrorCode::kIo) << status.text();
  }
  EXPECT_TRUE(has("a"));
  EXPECT_FALSE(has("b") || has("c") || has("d"));
}

// Whatever is thrown, nobody waits for ever.
TEST_F(Group, EndsWhateverAPartThrows) {
  commit([] { throw std::runtime_error("no error of ours"); });
  for (const Status& status : statuses_) {
    EXPECT_EQ(status.code(), ErrorCode::kInternal);
  }
  EXPECT_FALSE(has("b") || has("c") || has("d"));
}

constexpr int kThreads = 6;

/// Stores of several threads at once.
std::vector<Result<Stored>>
store_at_once(DiskTier& tier, const std::vector<StoreBatch>& batches) {
  std::vector<Result<Stored>> results(batches.size(), Result<Stored>(Stored()));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < batches.size(); ++i) {
    threads.emplace_back([&, i] { results[i] = tier.store(batches[i]); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return results;
}

// An image is written once, whoever stores it.
TEST(StoresAtOnce, OfOneTextWriteItOnce) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const std::vector<StoreBatch> batches(
      kThreads, path_batch(scope, chat_tokens(1, 300), rig.images));
  const auto results = store_at_once(*tier, batches);
  int writers = 0;
  for (const auto& result : results) {
    ASSERT_TRUE(result.ok()) << result.status().text();
    EXPECT_EQ(result.value().images, results[0].value().images);
    writers += result.value().written > Bytes() ? 1 : 0;
  }
  EXPECT_EQ(writers, 1);
  EXPECT_EQ(segments_of(*rig.memory, "/state").size(), 1u);
  expect_consistent(*tier);
}

// Texts that share a beginning, each with more of it than the last.
TEST(StoresAtOnce, OfTextsOfOneBeginningWriteNoImageTwice) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  std::vector<StoreBatch> batches;
  for (int chat = 1; chat <= kThreads; ++chat) {
    batches.push_back(chat_batch(
        scope,
        chat_tokens(chat, 64 * (chat + 2), 128),
        "chat " + std::to_string(chat),
        rig.images));
  }
  for (const auto& result : store_at_once(*tier, batches)) {
    ASSERT_TRUE(result.ok()) << result.status().text();
  }
  EXPECT_EQ(tier->stats().value().dead, Bytes());
  const Offered all = offered(*tier);
  for (int chat = 1; chat <= kThreads; ++chat) {
    const int64_t tokens = 64 * (chat + 2);
    EXPECT_EQ(all.restorable(chat_tokens(chat, tokens, 128)), tokens);
  }
  expect_consistent(*tier);
}

/// An object of a few pages.
struct Value {
  explicit Value(int number) : key(std::to_string(number)) {}
  std::string key;
  std::string text = std::string(3000, 'v') + key;
  Status put(DiskTier& tier) const {
    const ObjectToStore object{
        .space = "encoder",
        .key = key,
        .bytes = std::as_bytes(std::span(text))};
    return tier.put_objects({&object, 1}).status();
  }
  bool is_there(DiskTier& tier) const {
    const auto found = tier.object("encoder", key);
    EXPECT_TRUE(!found.ok() || text_of(found.value()) == text);
    return found.ok();
  }
};

/// Chats and objects, each by a thread of its own; whether it is stored.
std::vector<Status> store_all_at_once(
    DiskTier& tier,
    const std::vector<StoreBatch>& chats,
    const std::vector<Value>& values) {
  std::vector<Status> results(chats.size() + values.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < chats.size(); ++i) {
    threads.emplace_back(
        [&, i] { results[i] = tier.store(chats[i]).status(); });
  }
  for (size_t i = 0; i < values.size(); ++i) {
    threads.emplace_back(
        [&, i] { results[chats.size() + i] = values[i].put(tier); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return results;
}

// All come to their commit together: the first goes alone, the folder is synced
// once more for those who came meanwhile.
TEST(StoresAtOnce, OfTextsAndObjectsShareACommit) {
  TierRig rig;
  const auto hooked = std::make_shared<SyncHook>(rig.memory);
  rig.options.files = hooked;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  bool shared = false;
  int chat = 0;
  for (int round = 0; round < 50 && !shared; ++round) {
    std::vector<StoreBatch> chats;
    std::vector<Value> values;
    for (int i = 0; i < 2; ++i) {
      ++chat;
      chats.push_back(path_batch(scope, chat_tokens(chat, 64), rig.images));
      values.emplace_back(2 * chat);
      values.emplace_back(2 * chat + 1);
    }
    std::barrier written(kThreads);
    hooked->before_sync = [&] { written.arrive_and_wait(); };
    const int64_t before = rig.memory->counts().folder_syncs;
    for (const Status& status : store_all_at_once(*tier, chats, values)) {
      EXPECT_TRUE(status.ok()) << status.text();
    }
    // Two texts alone would be one less.
    shared = rig.memory->counts().folder_syncs - before < kThreads - 1;
    for (const Value& value : values) {
      EXPECT_TRUE(value.is_there(*tier));
    }
  }
  EXPECT_TRUE(shared);
  expect_consistent(*tier);
}

// Whoever is named last has the key; what the other wrote is dead.
TEST(StoresAtOnce, OfOneObjectLeaveOneOfThem) {
  TierRig rig;
  const auto tier = rig.open();
  const std::vector<Value> values(kThreads, Value(1));
  for (const Status& status : store_all_at_once(*tier, {}, values)) {
    EXPECT_TRUE(status.ok()) << status.text();
  }
  EXPECT_TRUE(values[0].is_there(*tier));
  EXPECT_EQ(tier->stats().value().objects.count, 1);
  expect_consistent(*tier);
}

// The day's limit holds for all that are under way.
TEST(StoresAtOnce, KeepToTheDaysLimitTogether) {
  TierRig rig;
  rig.open()->scope(kScope).value();
  constexpr Bytes kMore(450'000);
  rig.options.daily_bytes = rig.open()->stats().value().written_today + kMore;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  std::vector<StoreBatch> batches;
  for (int chat = 1; chat <= kThreads; ++chat) {
    batches.push_back(path_batch(scope, chat_tokens(chat, 320), rig.images));
  }
  int refused = 0;
  for (const auto& result : store_at_once(*tier, batches)) {
    refused += result.status().code() == ErrorCode::kOutOfBudget ? 1 : 0;
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, kThreads);
  // But for commits of others that were under way.
  EXPECT_LE(
      tier->stats().value().written_today,
      rig.options.daily_bytes + Bytes(kThreads * 100'000));
  EXPECT_LE(tier->stats().value().live, kMore);
}

class StoresAtOnceThatFail : public testing::TestWithParam<FileFault::Kind> {};

TEST_P(StoresAtOnceThatFail, KeepWhatOneOfThemAcknowledged) {
  bool failed = true;
  for (int64_t call = 0; failed; ++call) {
    SCOPED_TRACE(call);
    TierRig rig;
    const auto faulty = std::make_shared<FaultyFileSystem>(rig.memory);
    rig.options.files = faulty;
    auto tier = rig.open();
    const ScopeId scope = tier->scope(kScope).value();
    std::vector<StoreBatch> batches;
    const std::vector<Value> values{Value(1), Value(2)};
    for (int chat = 1; chat <= 3; ++chat) {
      batches.push_back(chat_batch(
          scope,
          chat_tokens(chat, 100, 64),
          "chat " + std::to_string(chat),
          rig.images));
    }
    faulty->fail({.kind = GetParam(), .after = call});
    const auto results = store_all_at_once(*tier, batches, values);
    failed = faulty->failed() > 0;
    tier.reset();
    for (const auto keep :
         {PowerLoss::Keep::kNothing, PowerLoss::Keep::kTornSectors}) {
      DiskTierOptions options = rig.options;
      options.files = rig.memory->power_loss(
          {.keep = keep, .seed = static_cast<uint64_t>(call)});
      const auto later = DiskTier::open(options).value();
      const Offered all = offered(*later);
      for (int chat = 1; chat <= 3; ++chat) {
        const auto& result = results[static_cast<size_t>(chat - 1)];
        const RecordName name{"chat", "chat " + std::to_string(chat)};
        EXPECT_TRUE(!result.ok() || all.records.contains(name));
        EXPECT_TRUE(
            !result.ok() || all.restorable(chat_tokens(chat, 100, 64)) == 100);
      }
      for (size_t i = 0; i < values.size(); ++i) {
        EXPECT_TRUE(!results[3 + i].ok() || values[i].is_there(*later));
      }
      expect_consistent(*later);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    With,
    StoresAtOnceThatFail,
    testing::Values(FileFault::Kind::kIo, FileFault::Kind::kPowerLoss),
    [](const auto& info) {
      return std::string(
          info.param == FileFault::Kind::kIo ? "AnError" : "PowerLoss");
    });

} // namespace
} // namespace holdfast::test
