// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// FAULTS B67, B77: a segment is cut short while it is mapped; its bytes read as
// zeros from then on, and are not taken for what was stored.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/env/mapping_guard.h"
#include "holdfast/env/posix_file_system.h"
#include "tests/env/temp_folder.h"
#include "tests/tier/heard.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

const ScopeText kScope{"model a"};

class CutSegment : public testing::Test {
 protected:
  CutSegment() {
    rig_.options.folder = folder_ / "state";
    rig_.options.files = posix_file_system();
    rig_.options.verify = Verify::kNever;
  }
  void cut() const {
    for (const std::string& path :
         segments_of(*rig_.options.files, rig_.options.folder)) {
      rig_.options.files->open(path, FileSystem::Access::kReadWrite)
          .value()
          ->truncate(Bytes(4096))
          .check();
    }
  }

  const MappingGuard guard_;
  const TempFolder folder_;
  TierRig rig_;
};

// The copy of a body takes about a millisecond, and somewhere in it the file
// is cut: what comes is all of the body or an error. A busy machine may need
// more rounds until one is cut in time.
TEST_F(CutSegment, UnderTheCopyOfABodyIsNoTextOfZeros) {
  const auto tier = rig_.open();
  const ScopeId scope = tier->scope(kScope).value();
  StoreBatch batch = chat_batch(scope, chat_tokens(1, 64), "a", rig_.images);
  batch.record->body.assign(size_t{8} << 20, 'b');
  int refused = 0;
  for (int round = 0; round < 12 || (refused == 0 && round < 500); ++round) {
    batch.record->version = 0;
    ASSERT_TRUE(tier->store(batch).ok());
    std::atomic<bool> reading{false};
    std::thread cutter([&] {
      while (!reading) {
      }
      std::this_thread::sleep_for(
          std::chrono::microseconds(300 * (round % 12)));
      cut();
    });
    reading = true;
    const auto text = tier->record_text({"chat", "a"});
    cutter.join();
    if (text.ok()) {
      ASSERT_EQ(text.value().body, batch.record->body) << round;
    } else {
      EXPECT_EQ(text.status().code(), ErrorCode::kCorrupt)
          << text.status().text();
      ++refused;
    }
    ASSERT_TRUE(tier->remove_record({"chat", "a"}).ok());
    ASSERT_TRUE(tier->forget_all().ok());
  }
  EXPECT_GT(refused, 0);
}

/// An index that believes all that a store says.
struct Kept {
  std::vector<Extent> extents;
  explicit Kept(const Stored& stored) {
    for (const auto& images : stored.images) {
      extents.insert(extents.end(), images.begin(), images.end());
    }
    std::sort(extents.begin(), extents.end());
  }
};

// While the cut one is still mapped, by whoever has it.
TEST_F(CutSegment, IsWrittenAnewByTheNextStoreOfTheProcessThatSawIt) {
  const auto tier = rig_.open();
  const ScopeId scope = tier->scope(kScope).value();
  const StoreBatch batch =
      chat_batch(scope, chat_tokens(1, 200), "a", rig_.images);
  const Stored first = tier->store(batch).value();
  const MappedImage held = tier->map(first.images[0][0]).value();
  Heard heard(*tier);
  EXPECT_EQ(tier->store(batch).value().images, first.images);
  EXPECT_TRUE(heard.images.empty());
  cut();
  EXPECT_FALSE(held.intact());
  const Stored second = tier->store(batch).value();
  EXPECT_GT(second.written, Bytes(0));
  for (size_t node = 0; node < second.images.size(); ++node) {
    for (const Extent& extent : second.images[node]) {
      EXPECT_NE(extent.segment, first.images[0][0].segment);
      EXPECT_TRUE(tier->map(extent).ok());
    }
  }
  std::sort(heard.images.begin(), heard.images.end());
  EXPECT_EQ(heard.images, Kept(first).extents);
  expect_consistent(*tier);
  EXPECT_EQ(offered(*rig_.open()).restorable(chat_tokens(1, 200)), 200);
}

// Nobody stores: who asks for it hears what was lost, and it is offered no
// more.
TEST_F(CutSegment, IsToldOnceWhereSomebodyLooks) {
  const auto tier = rig_.open();
  const ScopeId scope = tier->scope(kScope).value();
  const Stored stored =
      tier->store(chat_batch(scope, chat_tokens(1, 128), "a", rig_.images))
          .value();
  const MappedImage held = tier->map(stored.images[0][0]).value();
  Heard heard(*tier);
  tier->drop_cut();
  EXPECT_TRUE(heard.images.empty());
  cut();
  tier->drop_cut();
  EXPECT_EQ(heard.images.size(), Kept(stored).extents.size());
  EXPECT_EQ(offered(*tier).restorable(chat_tokens(1, 128)), 0);
  EXPECT_FALSE(tier->map(stored.images[1][0]).ok());
  tier->drop_cut();
  EXPECT_EQ(heard.images.size(), Kept(stored).extents.size());
}

TEST_F(CutSegment, IsNotWrittenAsAnObject) {
  const auto tier = rig_.open();
  const std::string value(100000, 'v');
  const auto put = [&](std::string_view key, std::span<const std::byte> bytes) {
    const ObjectToStore object{
        .space = "encoder", .key = std::string(key), .bytes = bytes};
    return tier->put_objects(std::span(&object, 1)).status();
  };
  ASSERT_TRUE(put("a", std::as_bytes(std::span(value))).ok());
  const MappedImage image = tier->object("encoder", "a").value();
  cut();
  EXPECT_FALSE(put("b", image.bytes()).ok());
  EXPECT_EQ(tier->object("encoder", "b").status().code(), ErrorCode::kNotFound);
  EXPECT_TRUE(put("b", std::as_bytes(std::span(value))).ok());
  EXPECT_EQ(text_of(tier->object("encoder", "b").value()), value);
}

} // namespace
} // namespace holdfast::test
