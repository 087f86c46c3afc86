// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// FAULTS B67, B77: a segment is cut short while it is mapped; its bytes read as
// zeros from then on, and are not taken for what was stored.

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "holdfast/env/mapping_guard.h"
#include "holdfast/env/posix_file_system.h"
#include "tests/env/temp_folder.h"
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
