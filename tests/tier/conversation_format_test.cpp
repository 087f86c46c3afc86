// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/conversation_format.h"

#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/env/faulty_file_system.h"
#include "tests/tier/conversation_support.h"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

constexpr size_t kDirectory = 64 + 6 + 2 * 4096;

TEST(ConversationFormat, GivesBackWhatWasWritten) {
  for (const int level : {0, 1, 19}) {
    const auto files = MemoryFileSystem::make();
    const TalkBytes bytes = example_conversation(level);
    files->create("/talk").value()->write(Bytes(0), bytes).check();
    const auto reader = ConversationReader::open(*files, "/talk").value();
    const Conversation& got = reader->content();
    EXPECT_EQ(got.scope.text, "a scope");
    EXPECT_EQ(got.record.space, "chat");
    EXPECT_EQ(got.record.name, "a name");
    EXPECT_EQ(got.record.version, 3u);
    EXPECT_EQ(got.record.length, Position(66));
    EXPECT_EQ(reader->body().value(), "a body");
    ASSERT_EQ(got.nodes.size(), 2u);
    EXPECT_EQ(got.tokens().back(), 66);
    EXPECT_EQ(got.nodes[0].cost, 7);
    EXPECT_EQ(got.nodes[1].marks, "m");
    for (const ConversationNode& node : got.nodes) {
      ASSERT_EQ(node.images.size(), 1u);
      EXPECT_EQ(node.images[0].slot, (ImageSlot{0, 0}));
      EXPECT_EQ(node.images[0].piece.packed, level > 0);
      EXPECT_EQ(reader->read(node.images[0].piece).value(), counting_image());
    }
    EXPECT_LT(level > 0 ? bytes.size() : 0, size_t{2000});
  }
}

TEST(ConversationFormat, AnEmptyConversationIsOne) {
  const auto files = MemoryFileSystem::make();
  auto writer = ConversationWriter::create({files, "/talk", 0}).value();
  const Bytes size =
      writer->finish({"s"}, {"", "", 0, Position(0), {}}).value();
  const auto reader = ConversationReader::open(*files, "/talk").value();
  EXPECT_EQ(reader->file_bytes(), size);
  EXPECT_TRUE(reader->content().nodes.empty());
  EXPECT_TRUE(reader->verify().ok());
  EXPECT_EQ(reader->body().value(), "");
}

std::string hex_lines(std::span<const std::byte> bytes) {
  std::string lines;
  char text[32];
  for (size_t line = 0; line < bytes.size(); line += 16) {
    if (line >= 0x50 && line < 0x2040) {
      continue; // the images, which the page says in words
    }
    std::snprintf(text, sizeof(text), "%05zx", line);
    lines += text;
    for (size_t i = line; i < std::min(line + 16, bytes.size()); ++i) {
      std::snprintf(
          text, sizeof(text), " %02x", std::to_integer<int>(bytes[i]));
      lines += text;
    }
    lines += "\n";
  }
  return lines;
}

TEST(ConversationFormat, TheWorkedExampleOfThePageIsTheBytesOfAFile) {
  std::ifstream page(HOLDFAST_TEST_DATA "/../../docs/conversation.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  EXPECT_THAT(text, HasSubstr(hex_lines(example_conversation())));
}

TEST(ConversationFormat, EveryFlippedBitIsFound) {
  for (const int level : {0, 3}) {
    const TalkBytes right = example_conversation(level);
    for (size_t byte = 0; byte < right.size(); ++byte) {
      TalkBytes bytes = right;
      bytes[byte] ^= std::byte{1} << (byte % 8);
      ASSERT_FALSE(read_conversation(bytes).ok()) << byte;
    }
  }
}

TEST(ConversationFormat, EveryTruncationIsFound) {
  for (const int level : {0, 3}) {
    const TalkBytes right = example_conversation(level);
    ASSERT_TRUE(read_conversation(right).ok());
    for (size_t size = 0; size < right.size(); ++size) {
      ASSERT_EQ(
          read_conversation(std::span(right).first(size)).code(),
          ErrorCode::kCorrupt)
          << size;
    }
    TalkBytes longer = right;
    longer.push_back({});
    EXPECT_EQ(read_conversation(longer).code(), ErrorCode::kCorrupt);
  }
}

TEST(ConversationFormat, WrongChecksumsAreNamed) {
  namespace at = conversation_fields;
  TalkBytes bytes = example_conversation();
  bytes[at::kHeaderChecksum] ^= std::byte{1};
  EXPECT_THAT(
      read_conversation(bytes).text(), HasSubstr("checksum of the header"));
  bytes = example_conversation();
  bytes[kDirectory + 4] ^= std::byte{1};
  EXPECT_THAT(
      read_conversation(bytes).text(), HasSubstr("checksum of the directory"));
  bytes = example_conversation();
  bytes[100] ^= std::byte{1};
  EXPECT_THAT(
      read_conversation(bytes).text(), HasSubstr("4096 bytes at offset 70"));
}

// Whatever call fails: the path has the former file or the whole new one, and
// no unfinished file stays where removing works.
TEST(ConversationWriter, AFailedWriteLeavesTheFormerFileWhole) {
  for (const auto kind : {FileFault::Kind::kIo, FileFault::Kind::kShortWrite}) {
    for (int64_t k = 0;; ++k) {
      const auto memory = MemoryFileSystem::make();
      memory->create("/talk")
          .value()
          ->write(Bytes(0), example_conversation())
          .check();
      const auto files = std::make_shared<FaultyFileSystem>(memory);
      files->fail({.kind = kind, .after = k});
      Status status;
      {
        auto writer = ConversationWriter::create({files, "/talk", 0});
        status = writer.status();
        if (status.ok()) {
          writer.value()->add_node(
              {.tokens = {1}, .marks = {}, .cost = 0, .images = {}});
          status = writer.value()->add_image({0, 0}, counting_image());
          if (status.ok()) {
            status = writer.value()
                         ->finish({"new"}, {"", "", 0, Position(1), {}})
                         .status();
          }
        }
      }
      if (files->failed() == 0) {
        EXPECT_TRUE(status.ok()) << status.text();
        EXPECT_GT(k, 4);
        break;
      }
      const auto reader = ConversationReader::open(*memory, "/talk").value();
      EXPECT_TRUE(reader->verify().ok());
      EXPECT_TRUE(
          reader->content().scope.text == "a scope" || !status.ok() ||
          files->calls() > 4);
      EXPECT_EQ(memory->list("/").value().size(), 1u) << files->trace();
    }
  }
}

TEST(ConversationWriter, APowerLossLeavesTheFormerFileOrTheNewOne) {
  for (int64_t k = 0; k < 16; ++k) {
    const auto memory = MemoryFileSystem::make();
    {
      const auto writer =
          ConversationWriter::create({memory, "/talk", 0}).value();
      writer->finish({"old"}, {"", "", 0, Position(0), {}}).value();
    }
    const auto files = std::make_shared<FaultyFileSystem>(memory);
    files->fail(
        {.kind = FileFault::Kind::kPowerLoss, .after = k, .once = false});
    bool acknowledged = false;
    if (auto writer = ConversationWriter::create({files, "/talk", 0});
        writer.ok()) {
      writer.value()->add_node(
          {.tokens = {1}, .marks = {}, .cost = 0, .images = {}});
      acknowledged = writer.value()->add_image({0, 0}, counting_image()).ok() &&
          writer.value()->finish({"new"}, {"", "", 0, Position(1), {}}).ok();
    }
    const auto found = memory->power_loss({});
    const auto reader = ConversationReader::open(*found, "/talk").value();
    EXPECT_TRUE(reader->verify().ok());
    const std::string scope = reader->content().scope.text;
    EXPECT_TRUE(scope == "new" || (scope == "old" && !acknowledged)) << k;
  }
}

std::unique_ptr<ConversationWriter> writer_of(
    const std::shared_ptr<FileSystem>& files,
    const std::string& path = "/talk") {
  return ConversationWriter::create({files, path, 0}).value();
}

void finish(ConversationWriter& writer, const std::string& scope) {
  writer.finish({scope}, {"", "", 0, Position(0), {}}).value();
}

TEST(ConversationWriter, RemovesWhatAKilledWriterLeftAndNothingElse) {
  const auto memory = MemoryFileSystem::make();
  const std::set<std::string> others = {
      "talk.0123456789abcde.unfinished",
      "talk.0123456789abcdeX.unfinished",
      "talk.0123456789abcdef.unfinished.txt",
      "talkative.0123456789abcdef.unfinished"};
  for (const std::string& name : others) {
    memory->create("/" + name).value();
  }
  memory->create("/talk.0123456789abcdef.unfinished").value();
  const auto first = writer_of(memory);
  const auto names = [&] {
    const auto list = memory->list("/").value();
    return std::set<std::string>(list.begin(), list.end());
  };
  EXPECT_FALSE(names().contains("talk.0123456789abcdef.unfinished"));
  const auto second = writer_of(memory); // the first one is at work
  EXPECT_EQ(names().size(), others.size() + 2);
  finish(*first, "first");
  finish(*second, "second");
  std::set<std::string> expected = others;
  expected.insert("talk");
  EXPECT_EQ(names(), expected);
  EXPECT_EQ(
      ConversationReader::open(*memory, "/talk").value()->content().scope.text,
      "second");
}

/// Does something before the first lock.
class BeforeLock : public FaultyFileSystem {
 public:
  BeforeLock(std::shared_ptr<FileSystem> below, std::function<void()> act)
      : FaultyFileSystem(std::move(below)), act_(std::move(act)) {}
  Result<std::unique_ptr<FileLock>>
  lock(const std::string& path, Wait wait) override {
    if (act_) {
      std::exchange(act_, nullptr)();
    }
    return FaultyFileSystem::lock(path, wait);
  }

 private:
  std::function<void()> act_;
};

// Between its making and its locking the file looks like a dead one's.
TEST(ConversationWriter, DrawsAnotherNameWhereItsFileWasTakenForADeadOnes) {
  const auto memory = MemoryFileSystem::make();
  std::unique_ptr<ConversationWriter> other;
  const auto files =
      std::make_shared<BeforeLock>(memory, [&] { other = writer_of(memory); });
  const auto writer = writer_of(files);
  EXPECT_EQ(memory->list("/").value().size(), 2u);
  finish(*other, "other");
  finish(*writer, "mine");
  EXPECT_EQ(memory->list("/").value(), (std::vector<std::string>{"talk"}));
  EXPECT_EQ(
      ConversationReader::open(*memory, "/talk").value()->content().scope.text,
      "mine");
}

TEST(ConversationWriter, WhatIsNoPathIsRefused) {
  const auto files = MemoryFileSystem::make();
  const auto writer = ConversationWriter::create({files, "/talk", 0}).value();
  EXPECT_THROW((void)writer->add_image({0, 0}, counting_image()), Error);
  writer->add_node({.tokens = {1}, .marks = {}, .cost = 0, .images = {}});
  EXPECT_THROW((void)writer->add_body("late"), Error);
  EXPECT_THROW((void)writer->add_image({0, 0}, counting_image(100)), Error);
  writer->add_image({0, 1}, counting_image()).check();
  EXPECT_THROW((void)writer->add_image({0, 1}, counting_image()), Error);
  EXPECT_THROW(
      (void)writer->finish({"s"}, {"", "", 0, Position(2), {}}), Error);
  writer->add_node({.tokens = {1}, .marks = {}, .cost = 0, .images = {}});
  EXPECT_THROW(
      (void)writer->finish({"s"}, {"", "", 0, Position(2), {}}), Error);
  EXPECT_THROW((void)ConversationWriter::create({files, "/other", 20}), Error);
}

} // namespace
} // namespace holdfast::test
