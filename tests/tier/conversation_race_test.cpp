// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What happens to a record while it is exported.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "holdfast/env/faulty_file_system.h"
#include "holdfast/env/mapping_guard.h"
#include "holdfast/env/posix_file_system.h"
#include "holdfast/tier/conversation_export.h"
#include "holdfast/tier/conversation_reader.h"
#include "tests/env/temp_folder.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

const ScopeText kScope{"a scope"};
const RecordName kChat{"chat", "one"};

/// Does something before one of the accesses to a tier.
class BeforeAccess : public FaultyFileSystem {
 public:
  using FaultyFileSystem::FaultyFileSystem;

  void arm(int64_t access, std::function<void()> act) {
    left_ = access;
    act_ = std::move(act);
  }
  bool has_acted() const {
    return left_ < 0;
  }
  Result<std::unique_ptr<FileLock>>
  lock(const std::string& path, Wait wait) override {
    if (act_ && path == "/state/lock" && left_-- == 0) {
      std::exchange(act_, nullptr)();
    }
    return FaultyFileSystem::lock(path, wait);
  }

 private:
  int64_t left_ = 0;
  std::function<void()> act_;
};

// Another process stores the next turn, in whose block this one's tail goes up:
// the file is of the one version or of the other.
TEST(ConversationRace, ARecordThatIsReplacedMeanwhileIsExportedAsOneVersion) {
  bool acted = true;
  int of_each[2] = {0, 0};
  for (int64_t access = 0; acted; ++access) {
    SCOPED_TRACE(access);
    TierRig rig;
    const auto files = std::make_shared<BeforeAccess>(rig.memory);
    TierRig with;
    with.options.files = files;
    const auto tier = with.open();
    const ScopeId scope = tier->scope(kScope).value();
    const Stored first =
        tier->store(chat_batch(scope, chat_tokens(0, 150), "one", rig.images))
            .value();
    rig.options.files = rig.memory;
    const auto other = rig.open();
    files->arm(access, [&] {
      StoreBatch next =
          chat_batch(scope, chat_tokens(0, 200), "one", rig.images);
      next.nodes[2].supersedes = {first.nodes[2]};
      other->store(next).value();
    });
    const auto exported = export_record(*tier, kChat, {rig.memory, "/file", 0});
    acted = files->has_acted();
    files->arm(0, nullptr); // a tier that is closed is at work, too
    ASSERT_TRUE(exported.ok()) << exported.status().text();
    const auto file = ConversationReader::open(*rig.memory, "/file").value();
    const ConversationRecord& record = file->content().record;
    const auto version = static_cast<int64_t>(record.version);
    EXPECT_EQ(record.length, Position(version));
    EXPECT_EQ(
        file->body().value(), "body of one at " + std::to_string(version));
    Tokens tokens;
    for (const ConversationNode& node : file->content().nodes) {
      tokens.insert(tokens.end(), node.tokens.begin(), node.tokens.end());
      EXPECT_EQ(node.images.size(), 2u);
    }
    EXPECT_EQ(tokens, chat_tokens(0, version));
    ++of_each[version == 200 ? 1 : 0];
  }
  EXPECT_GT(of_each[0], 0);
  EXPECT_GT(of_each[1], 1);
}

// As CutSegment.UnderTheCopyOfABodyIsNoTextOfZeros: what comes is a file of the
// image's bytes, or an error.
TEST(ConversationRace, AnImageThatIsCutUnderTheCopyIsNoFileOfZeros) {
  const MappingGuard guard;
  const TempFolder folder;
  TierRig rig;
  rig.options.folder = folder / "state";
  rig.options.files = posix_file_system();
  rig.options.verify = Verify::kNever;
  const auto tier = rig.open();
  constexpr size_t kImage = size_t{8} << 20;
  BlockPool pool({Bytes(kImage)});
  const BlockRef block = pool.allocate(0);
  std::memset(block.mutable_image(), 'b', kImage);
  block.seal();
  StoreBatch batch = chat_batch(
      tier->scope(kScope).value(), chat_tokens(0, 64), "one", rig.images);
  batch.record->version = 0;
  batch.nodes[0].images = {{kFull, block, {}}};
  const std::string path = folder / "file";
  int refused = 0;
  for (int round = 0; round < 12 || (refused == 0 && round < 500); ++round) {
    ASSERT_TRUE(tier->store(batch).ok());
    std::atomic<bool> copying{false};
    std::thread cutter([&] {
      while (!copying) {
      }
      std::this_thread::sleep_for(
          std::chrono::microseconds(300 * (round % 12)));
      for (const std::string& segment :
           segments_of(*rig.options.files, rig.options.folder)) {
        rig.options.files->open(segment, FileSystem::Access::kReadWrite)
            .value()
            ->truncate(Bytes(4096))
            .check();
      }
    });
    copying = true;
    const auto exported =
        export_record(*tier, kChat, {rig.options.files, path, 0});
    cutter.join();
    if (exported.ok()) {
      const auto file =
          ConversationReader::open(*rig.options.files, path).value();
      const auto image =
          file->read(file->content().nodes[0].images[0].piece).value();
      ASSERT_TRUE(std::ranges::all_of(image, [](std::byte each) {
        return each == std::byte{'b'};
      })) << round;
    } else {
      EXPECT_EQ(exported.status().code(), ErrorCode::kCorrupt)
          << exported.status().text();
      ++refused;
    }
    ASSERT_TRUE(tier->forget_all().ok());
  }
  EXPECT_GT(refused, 0);
}

} // namespace
} // namespace holdfast::test
