// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What the store of a coordinator says of paths: on disk, covered by a longer
// one, missing; never more than the disk can give back.

#include "holdfast/prefix/path_store.h"

#include <gtest/gtest.h>

#include <memory>

#include "holdfast/prefix/image_planes.h"
#include "holdfast/prefix/tree_loader.h"
#include "tests/prefix/cache_process.h"

namespace holdfast {
namespace {

using namespace test;

/// A store over a state's tree and a disk, with no coordinator. Layers of the
/// state see 20 positions, or all.
struct StoreRig {
  StoreRig() {
    store.set_planes(std::make_shared<const ImagePlanes>(state.groups()));
  }

  static RecordKey key(int64_t length) {
    return {
        .space = {},
        .tokens =
            std::make_shared<const std::vector<int32_t>>(text_tokens(length)),
        .name = {}};
  }
  /// Puts the first positions of the one text into the tree, as a row of that
  /// length holds them.
  Inserted insert(int64_t length) {
    const RowId row = state.add_row();
    append_to(state, row, {&vectors, 0, length});
    const auto tokens = text_tokens(length);
    Inserted inserted =
        tree.insert(scope, {tokens}, state.snapshot(row, tokens).row());
    state.remove_row(row);
    return inserted;
  }
  /// The same as wanted; the record where one is given.
  RecordKey want(int64_t length, std::optional<NamedRecord> record = {}) {
    const RecordKey made = key(length);
    wanted.put(
        made,
        {.tokens = made.tokens,
         .marks = {},
         .fresh = insert(length).fresh,
         .state = Position(length),
         .record = std::move(record)});
    return made;
  }
  Status write(const RecordKey& made) {
    const auto content = store.make(made);
    return content.ok() ? store.store(made, 1, *content.value())
                        : content.status();
  }

  Sequence vectors{kLength, 51};
  State state{options()};
  std::shared_ptr<MemoryFileSystem> files = disk();
  std::unique_ptr<DiskTier> tier =
      DiskTier::open({.folder = "/state",
                      .files = files,
                      .clock = std::make_shared<ManualClock>()})
          .value();
  PrefixTree tree;
  ScopeHandle scope =
      tree.open(Scope(state.signature()), state.groups().rules());
  WantedPaths wanted;
  PathStore store{
      tree,
      *tier,
      wanted,
      scope,
      std::make_shared<StoredScope>(
          *tier,
          ScopeText{Scope(state.signature()).text()})};
};

TEST(PathStore, APathIsDurableOnceItIsStored) {
  StoreRig rig;
  const RecordKey key = rig.want(150);
  EXPECT_FALSE(rig.store.is_durable(key, 1));
  ASSERT_TRUE(rig.write(key).ok());
  EXPECT_TRUE(rig.store.is_durable(key, 1));
  // Put again: all of it is there, and nothing is to be written.
  rig.want(150);
  EXPECT_TRUE(rig.store.is_durable(key, 2));
  const Bytes written = rig.store.written();
  rig.want(150);
  ASSERT_TRUE(rig.write(key).ok());
  EXPECT_EQ(rig.store.written(), written);
}

// The longer row's window left what the shorter one needs behind.
TEST(PathStore, ALongerPathThatLacksTheWindowCoversNoShorterOne) {
  StoreRig rig;
  ASSERT_TRUE(rig.write(rig.want(250)).ok());
  const RecordKey shorter = StoreRig::key(100);
  rig.wanted.put(
      shorter,
      {.tokens = shorter.tokens,
       .marks = {},
       .fresh = {},
       .state = Position(100),
       .record = {}});
  EXPECT_FALSE(rig.store.is_covered(shorter));
  EXPECT_FALSE(rig.store.is_durable(shorter, 1));
  const auto content = rig.store.make(shorter);
  EXPECT_EQ(content.status().code(), ErrorCode::kNotFound);
}

TEST(PathStore, ALongerPathWithTheWindowCoversAShorterOne) {
  StoreRig rig;
  ASSERT_TRUE(rig.write(rig.want(110)).ok());
  rig.tree.reclaim(Bytes(int64_t{1} << 40)); // the disk alone has it
  const RecordKey shorter = StoreRig::key(100);
  rig.wanted.put(
      shorter,
      {.tokens = shorter.tokens,
       .marks = {},
       .fresh = {{.node = {.index = 99, .generation = 9}, .slots = {}}},
       .state = Position(100),
       .record = {}});
  EXPECT_TRUE(rig.store.is_covered(shorter));
}

// It would lose its body.
TEST(PathStore, ARecordWithAnythingBesideItsStateIsNeverCovered) {
  StoreRig rig;
  ASSERT_TRUE(rig.write(rig.want(110)).ok());
  NamedRecord record;
  record.name = {"chat", "a"};
  const RecordKey key = rig.want(100, record);
  EXPECT_FALSE(rig.store.is_covered(key));
  EXPECT_FALSE(rig.store.is_durable(key, 1));
  ASSERT_TRUE(rig.write(key).ok());
  EXPECT_TRUE(rig.store.is_durable(key, 1));
  EXPECT_EQ(rig.tier->record({"chat", "a"}).value().length, Position(100));
}

// What was put while a store was under way is still wanted.
TEST(PathStore, AStoreClearsOnlyThePutThatItWrote) {
  StoreRig rig;
  NamedRecord record;
  record.name = {"chat", "a"};
  record.body.set("tree", {.version = 1, .bytes = "one"});
  const RecordKey key = rig.want(100, record);
  const auto content = rig.store.make(key).value();
  record.body.set("tree", {.version = 1, .bytes = "two"});
  rig.want(100, record);
  ASSERT_TRUE(rig.store.store(key, 1, *content).ok());
  EXPECT_FALSE(rig.store.is_durable(key, 2));
  ASSERT_TRUE(rig.write(key).ok());
  EXPECT_TRUE(rig.store.is_durable(key, 2));
  EXPECT_EQ(
      RecordBody::parse(rig.tier->record_body({"chat", "a"}).value())
          .value()
          .find("tree")
          ->bytes,
      "two");
}

// Two texts of one beginning wait for the disk: each store has all that its
// record needs, whatever becomes of the other.
TEST(PathStore, AStoreDoesNotRelyOnWhatAnotherOneIsWriting) {
  StoreRig rig;
  NamedRecord record;
  record.name = {"chat", "first"};
  auto first = rig.store.make(rig.want(150, record)).value();
  record.name.name = "second";
  record.body.set("tree", {.version = 1, .bytes = "second"});
  ASSERT_TRUE(rig.write(rig.want(149, record)).ok());
  first.reset(); // it is dropped
  PrefixTree later;
  ASSERT_TRUE(load_tree(later, *rig.tier).ok());
  const ScopeHandle scope =
      later.open(Scope(rig.state.signature()), rig.state.groups().rules());
  EXPECT_EQ(later.known(scope, {text_tokens(149)}), Position(149));
  EXPECT_EQ(
      rig.tier->record({"chat", "first"}).status().code(),
      ErrorCode::kNotFound);
  // And what was dropped is written by whoever comes next.
  record.name.name = "first";
  ASSERT_TRUE(rig.write(rig.want(150, record)).ok());
  EXPECT_TRUE(rig.tree.is_stored(rig.scope, {text_tokens(150)}));
}

TEST(PathStore, APathWhoseStateIsGoneIsMissing) {
  StoreRig rig;
  const RecordKey key = rig.want(150);
  const auto tokens = text_tokens(150);
  EXPECT_GT(rig.tree.forget(rig.scope, {tokens}), 0);
  EXPECT_EQ(rig.write(key).code(), ErrorCode::kNotFound);
  EXPECT_FALSE(rig.store.is_covered(key));
}

} // namespace
} // namespace holdfast
