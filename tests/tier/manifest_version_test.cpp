// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A manifest of another version: what it names is not lost.

#include <algorithm>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/env/faulty_file_system.h"
#include "holdfast/tier/manifest.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

const ScopeText kScope{"model a"};
constexpr const char* kPath = "/state/manifest.db";

void run_sql(FileSystem& files, const TierRig& rig, const char* sql) {
  Manifest manifest(
      std::shared_ptr<FileSystem>(std::shared_ptr<void>(), &files),
      rig.clock,
      kPath,
      Manifest::Check::kSchema);
  ManifestTransaction transaction(manifest.database());
  manifest.database().run(sql);
  transaction.commit();
}

/// As the first version left it: nothing says what is to be erased.
void make_version_1(FileSystem& files, const TierRig& rig) {
  run_sql(
      files,
      rig,
      "ALTER TABLE segments DROP COLUMN erase; PRAGMA user_version=1");
}

void store_chats(const TierRig& rig) {
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  for (const int chat : {1, 2}) {
    tier
        ->store(chat_batch(
            scope, chat_tokens(chat, 200), std::to_string(chat), rig.images))
        .value();
  }
}

void expect_chats(DiskTier& tier) {
  const Offered all = offered(tier);
  EXPECT_EQ(all.records.size(), 2u);
  for (const int chat : {1, 2}) {
    EXPECT_EQ(all.restorable(chat_tokens(chat, 200)), 200);
  }
  expect_consistent(tier);
}

/// [name] the bytes, but for what tiers keep while they are open.
std::map<std::string, std::string> content(FileSystem& files) {
  std::map<std::string, std::string> all;
  for (const std::string& name : names_in(files, "/state")) {
    const std::string path = "/state/" + name;
    const FileFacts facts = files.facts(path).value();
    if (facts.kind != FileFacts::Kind::kFile) {
      continue;
    }
    std::string bytes(static_cast<size_t>(facts.size.get()), '\0');
    files.open(path, FileSystem::Access::kRead)
        .value()
        ->read(Bytes(0), std::as_writable_bytes(std::span(bytes)))
        .check();
    all[name] = bytes;
  }
  return all;
}

/// Nothing in the folder is another; a journal of no bytes says nothing.
void expect_untouched(
    std::map<std::string, std::string> before,
    FileSystem& files) {
  for (const auto& [name, bytes] : content(files)) {
    EXPECT_TRUE(before[name] == bytes) << name;
    before.erase(name);
  }
  for (const auto& [name, bytes] : before) {
    EXPECT_TRUE(bytes.empty()) << name;
  }
}

bool contains(FileSystem& files, const std::string& text) {
  return std::ranges::any_of(content(files), [&](const auto& file) {
    return file.second.find(text) != std::string::npos;
  });
}

TEST(ManifestVersion, OneThatIsNotKnownIsRefusedAndNothingOfItIsTouched) {
  for (const int version : {0, 3, 1000}) {
    TierRig rig;
    store_chats(rig);
    run_sql(
        *rig.memory,
        rig,
        ("PRAGMA user_version=" + std::to_string(version)).c_str());
    const auto before = content(*rig.memory);
    const Status status = DiskTier::open(rig.options).status();
    EXPECT_EQ(status.code(), ErrorCode::kUnsupported) << status.text();
    EXPECT_THAT(
        status.text(),
        HasSubstr(
            "/state/manifest.db: expected a manifest of version 2, got " +
            std::to_string(version)));
    expect_untouched(before, *rig.memory);
    EXPECT_TRUE(rig.names("/open").empty());
  }
}

TEST(ManifestVersion, OneThatTakesThePlaceOfAnOpenTiersIsNotTouchedEither) {
  TierRig rig;
  store_chats(rig);
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  // Another file: whoever has the old one open looks again.
  rig.memory->rename(kPath, "/state/kept").check();
  run_sql(*rig.memory, rig, "PRAGMA user_version=3");
  const auto before = content(*rig.memory);
  const auto refused = [](const Status& status) {
    EXPECT_EQ(status.code(), ErrorCode::kUnsupported) << status.text();
  };
  refused(tier->records().status());
  refused(tier->prune().status());
  refused(
      tier->store(path_batch(scope, chat_tokens(3, 64), rig.images)).status());
  expect_untouched(before, *rig.memory);
  rig.memory->rename("/state/kept", kPath).check();
  expect_chats(*tier);
}

TEST(ManifestVersion, TheFirstOneIsBroughtToThisOne) {
  TierRig rig;
  store_chats(rig);
  make_version_1(*rig.memory, rig);
  {
    const auto tier = rig.open();
    expect_chats(*tier);
    EXPECT_TRUE(tier->report().findings.empty());
    tier->forget({"chat", "1"}).value();
    EXPECT_EQ(offered(*tier).records.size(), 1u);
  }
  EXPECT_EQ(offered(*rig.open()).records.size(), 1u);
}

// Forgotten under the first version while somebody had it mapped: it had no
// place to say so, and files that cannot have holes kept the bytes.
TEST(ManifestVersion, WhatTheFirstOneForgotIsErased) {
  TierRig rig;
  rig.memory->set_can_punch(false);
  store_chats(rig);
  {
    const auto tier = rig.open();
    const Offered all = offered(*tier);
    // A leaf goes as an eviction takes it, without an order to erase.
    tier->remove_nodes(std::vector{all.find(chat_tokens(1, 200))->stored.id})
        .value();
  }
  const std::string image =
      Images::text(chat_tokens(1, 200), kSliding).substr(0, 64);
  EXPECT_TRUE(contains(*rig.memory, image));
  make_version_1(*rig.memory, rig);
  const auto tier = rig.open();
  EXPECT_FALSE(contains(*rig.memory, image));
  EXPECT_EQ(offered(*tier).restorable(chat_tokens(1, 200)), 192);
}

TEST(ManifestVersion, PowerLossAtAnyCallOfTheChangeLosesNothing) {
  TierRig rig;
  store_chats(rig);
  make_version_1(*rig.memory, rig);
  for (int64_t call = 0;; ++call) {
    TierRig again;
    again.memory = rig.memory->power_loss(
        {.keep = PowerLoss::Keep::kEverything, .seed = 0});
    const auto faulty = std::make_shared<FaultyFileSystem>(again.memory);
    again.options.files = faulty;
    faulty->fail({.kind = FileFault::Kind::kPowerLoss, .after = call});
    { const auto opened = DiskTier::open(again.options); }
    const bool failed = faulty->failed() > 0;
    again.memory = again.memory->power_loss({});
    again.options.files = again.memory;
    expect_chats(*again.open());
    if (!failed || testing::Test::HasFailure()) {
      EXPECT_GT(call, 20);
      break;
    }
  }
}

} // namespace
} // namespace holdfast::test
