// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What another process stored is read without reading all again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

using testing::ElementsAreArray;

const ScopeText kScope{"model a"};

/// The nodes that a load names, with how many images each has.
class Named : public TierVisitor {
 public:
  void begin() override {
    *this = Named();
  }
  void scope(ScopeId, const ScopeText& text) override {
    scopes.push_back(text.text);
  }
  void node(StoredNode node) override {
    images.push_back(node.images.size());
    nodes.push_back(node.id);
  }
  void record(StoredRecord record) override {
    records.push_back(record.name.name);
  }
  std::vector<std::string> scopes, records;
  std::vector<NodeId> nodes;
  std::vector<size_t> images;
};

struct Two {
  TierRig rig;
  std::unique_ptr<DiskTier> mine = rig.open();
  std::unique_ptr<DiskTier> others = rig.open();
  ScopeId scope = others->scope(kScope).value();

  Stored store(const Tokens& tokens) const {
    return others->store(path_batch(scope, tokens, rig.images)).value();
  }
  Named changes() const {
    Named named;
    mine->load_changes(named).status().check();
    return named;
  }
};

TEST(LoadChanges, GivesAllWhereNothingWasLoaded) {
  const Two two;
  const Stored stored = two.store(chat_tokens(1, 150));
  EXPECT_THAT(two.changes().nodes, ElementsAreArray(stored.nodes));
  EXPECT_FALSE(two.mine->changed_by_others().value());
}

TEST(LoadChanges, GivesOnlyNodesThatCameSince) {
  const Two two;
  two.store(chat_tokens(1, 150));
  Named all;
  two.mine->load(all).check();
  EXPECT_EQ(all.nodes.size(), 3u);
  EXPECT_TRUE(two.changes().nodes.empty());
  // Two blocks are known; a third was a tail.
  const Stored stored = two.store(chat_tokens(1, 200));
  EXPECT_TRUE(two.mine->changed_by_others().value());
  const Named changes = two.changes();
  EXPECT_THAT(
      changes.nodes,
      testing::ElementsAre(stored.nodes.at(2), stored.nodes.at(3)));
  EXPECT_THAT(changes.images, testing::Each(2u));
  EXPECT_THAT(changes.scopes, testing::ElementsAre("model a"));
  EXPECT_FALSE(two.mine->changed_by_others().value());
  EXPECT_TRUE(two.changes().nodes.empty());
}

TEST(LoadChanges, GivesANodeAgainThatGotAnImage) {
  const Two two;
  StoreBatch batch = path_batch(two.scope, chat_tokens(1, 100), two.rig.images);
  const ImageToStore later = batch.nodes[0].images.back();
  batch.nodes[0].images.pop_back();
  const Stored first = two.others->store(batch).value();
  EXPECT_THAT(two.changes().images, testing::ElementsAre(1u, 2u));
  batch.nodes[0].images.push_back(later);
  two.others->store(batch).value();
  const Named changes = two.changes();
  EXPECT_THAT(changes.nodes, testing::ElementsAre(first.nodes[0]));
  EXPECT_THAT(changes.images, testing::ElementsAre(2u));
}

TEST(LoadChanges, GivesAllOfAManifestThatTookAnothersPlace) {
  const Two two;
  two.store(chat_tokens(1, 150));
  two.changes();
  // Damage: a third process sets the manifest aside, and begins anew.
  const std::string path = "/state/manifest.db";
  for (int64_t at = 100; at < 20'000; at += 500) {
    flip(*two.rig.memory, path, at);
  }
  const auto third = two.rig.open();
  const ScopeId scope = third->scope(kScope).value();
  const Stored stored =
      third->store(path_batch(scope, chat_tokens(2, 70), two.rig.images))
          .value();
  EXPECT_THAT(two.changes().nodes, ElementsAreArray(stored.nodes));
}

} // namespace
} // namespace holdfast::test
