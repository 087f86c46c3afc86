// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A manifest that turns out damaged under an open cache is set aside: what it
// named is a miss, and the cache stores into the new one.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/prefix/cache_process.h"
#include "tests/prefix/generation_rig.h"

namespace holdfast {
namespace {

using namespace test;

/// Every page is another's content, as a program that is wrong would write.
void damage(FileSystem& files) {
  const std::string path = "/state/manifest.db";
  const Bytes size = files.facts(path).value().size;
  const std::string noise(static_cast<size_t>(size.get()), '?');
  files.open(path, FileSystem::Access::kReadWrite)
      .value()
      ->write(Bytes(0), std::as_bytes(std::span(noise)))
      .check();
}

bool is_set_aside(FileSystem& files) {
  for (const std::string& name : files.list("/state").value()) {
    if (name.ends_with(".aside")) {
      return true;
    }
  }
  return false;
}

class Aside : public testing::Test {
 protected:
  Aside() : first_(options(), files_) {
    first_.run(text_tokens(150), vectors_);
    EXPECT_TRUE(first_.cache().flush().durable);
  }
  void expect_reused(int64_t tokens, int64_t reused) {
    Process later(options(), files_);
    EXPECT_EQ(
        later.cache().begin({text_tokens(tokens)}).reused, Position(reused));
  }

  const Sequence vectors_{kLength, 81};
  const std::shared_ptr<MemoryFileSystem> files_ = disk();
  Process first_;
};

TEST_F(Aside, ALongerTextIsStoredWithAllThatItBuildsOn) {
  damage(*files_);
  const auto run = first_.run(text_tokens(250), vectors_);
  EXPECT_EQ(run.reused, Position(150)) << "RAM has it";
  EXPECT_TRUE(first_.cache().flush().durable);
  EXPECT_TRUE(is_set_aside(*files_));
  expect_reused(251, 250);
  first_.cache().check();
}

// It was on a disk that no longer knows it, so durable is not what it is.
TEST_F(Aside, TheSameTextIsStoredAgain) {
  damage(*files_);
  first_.run(text_tokens(150), vectors_);
  EXPECT_TRUE(first_.cache().flush().durable);
  expect_reused(151, 150);
}

TEST_F(Aside, AnotherTextAndItsRecordAreStored) {
  damage(*files_);
  NamedRecord record;
  record.name = {"chat", "a"};
  first_.run(text_tokens(200, 10), vectors_, &record);
  EXPECT_TRUE(first_.cache().flush().durable);
  const auto records = first_.cache().records("chat").value();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_TRUE(records[0].other_scope.empty()) << records[0].other_scope;
  Process later(options(), files_);
  EXPECT_EQ(later.cache().record({"chat", "a"}).value().tokens.size(), 200u);
}

// Nothing is begun between the damage and the store.
TEST_F(Aside, WhatWaitsForTheDiskIsStoredThere) {
  const Begun begun = first_.cache().begin({text_tokens(200)});
  append_to(first_.state(), begun.row, {&vectors_, 150, 50});
  damage(*files_);
  first_.cache().put(begun.row, {text_tokens(200)});
  first_.state().remove_row(begun.row);
  EXPECT_TRUE(first_.cache().flush().durable);
  EXPECT_TRUE(is_set_aside(*files_));
  expect_reused(201, 200);
}

TEST(AsideOfAGeneration, ItsCheckpointIsWrittenIntoTheNewManifest) {
  const auto files = MemoryFileSystem::make();
  Rig rig(files);
  auto attempt = rig.begin();
  rig.grow(200);
  rig.save(attempt, "one");
  ASSERT_TRUE(rig.flush().durable);
  damage(*files);
  rig.grow(300);
  rig.save(attempt, "two");
  EXPECT_TRUE(rig.flush().durable);
  EXPECT_TRUE(is_set_aside(*files));
  EXPECT_EQ(rig.body(), "two");
  EXPECT_EQ(Rig(files).usable_of(256), Position(256));
  rig.tree().check();
}

} // namespace
} // namespace holdfast
