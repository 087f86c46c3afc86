// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/faulty_file_system.h"

#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "file_bytes.h"
#include "holdfast/env/memory_file_system.h"

namespace holdfast {
namespace {

using Access = FileSystem::Access;
using Kind = FileFault::Kind;
using Wait = FileSystem::Wait;

/// One of every call, in the order of FileCall. Stops at the first that fails.
Status every_call(FileSystem& system) {
  make_file(system, "/a", "12345678").reset();
  const auto a = system.open("/a", Access::kReadWrite);
  if (!a.ok()) {
    return a.status();
  }
  const auto b = system.create("/b");
  if (!b.ok()) {
    return b.status();
  }
  File& file = *b.value();
  std::byte one[1];
  Status status = a.value()->read(Bytes(0), one);
  const auto then = [&](auto call) {
    if (status.ok()) {
      status = call();
    }
  };
  then([&] { return file.write(Bytes(4), bytes_of("text")); });
  then([&] { return file.truncate(Bytes(6)); });
  then([&] { return file.sync(); });
  then([&] { return file.punch(Bytes(0), Bytes(2)); });
  then([&] { return file.facts().status(); });
  MappedBytes mapped;
  then([&] {
    const Result<MappedBytes> result = file.map(Bytes(0), Bytes(6));
    mapped = result.ok() ? result.value() : nullptr;
    return result.status();
  });
  then([&] { return system.will_need({mapped.get(), 6}); });
  then([&] { return system.rename("/b", "/c"); });
  then([&] { return system.remove("/c"); });
  then([&] { return system.create_folder("/d"); });
  then([&] { return system.sync_folder("/"); });
  then([&] { return system.list("/").status(); });
  then([&] { return system.facts("/").status(); });
  then([&] { return system.free_space("/").status(); });
  then([&] { return system.lock("/l", Wait::kNo).status(); });
  return status;
}

TEST(FaultyFileSystem, PassesEverythingOnWhereNothingFails) {
  FaultyFileSystem faulty(MemoryFileSystem::make());
  const Status status = every_call(faulty);
  EXPECT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(faulty.calls(), 20) << faulty.trace();
  EXPECT_EQ(faulty.failed(), 0);
  for (int call = 0; call < kFileCalls; ++call) {
    EXPECT_NE(
        faulty.trace().find(
            std::string(" ") + name(static_cast<FileCall>(call)) + " "),
        std::string::npos)
        << name(static_cast<FileCall>(call)) << "\n"
        << faulty.trace();
  }
}

TEST(FaultyFileSystem, FailsEachCallInTurnAndNamesIt) {
  for (int64_t k = 2; k < 20; ++k) { // behind what make_file does
    for (const Kind kind : {Kind::kIo, Kind::kOutOfBudget}) {
      FaultyFileSystem faulty(MemoryFileSystem::make());
      faulty.fail({.kind = kind, .after = k});
      const Status status = every_call(faulty);
      EXPECT_EQ(
          status.code(),
          kind == Kind::kIo ? ErrorCode::kIo : ErrorCode::kOutOfBudget)
          << k;
      EXPECT_EQ(faulty.calls(), k + 1) << "stopped there";
      EXPECT_EQ(faulty.failed(), 1);
      const std::string line =
          faulty.trace().substr(faulty.trace().find(numbered("#", k) + " "));
      EXPECT_NE(line.find(" -> "), std::string::npos) << line;
    }
  }
}

TEST(FaultyFileSystem, DoesNothingInACallThatFails) {
  const auto memory = MemoryFileSystem::make();
  make_durable(*memory, "/a", "kept");
  FaultyFileSystem faulty(memory);
  const auto file = faulty.open("/a", Access::kReadWrite).value();
  faulty.fail({.kind = Kind::kIo, .once = false});
  EXPECT_FALSE(file->write(Bytes(0), bytes_of("lost")).ok());
  EXPECT_FALSE(file->truncate(Bytes(0)).ok());
  EXPECT_FALSE(file->punch(Bytes(0), Bytes(4)).ok());
  EXPECT_FALSE(faulty.create("/b").ok());
  EXPECT_FALSE(faulty.create_folder("/d").ok());
  EXPECT_FALSE(faulty.rename("/a", "/b").ok());
  EXPECT_FALSE(faulty.remove("/a").ok());
  EXPECT_EQ(faulty.failed(), 7);
  EXPECT_EQ(memory->list("/").value(), (std::vector<std::string>{"a"}));
  EXPECT_EQ(text_of(*memory, "/a"), "kept");
  faulty.heal();
  EXPECT_TRUE(file->write(Bytes(0), bytes_of("back")).ok());
}

TEST(FaultyFileSystem, FailsOnceOrFromThereOn) {
  FaultyFileSystem faulty(MemoryFileSystem::make());
  const auto fails = [&](FileFault fault) {
    std::string seen;
    faulty.fail(fault);
    for (int i = 0; i < 5; ++i) {
      seen += faulty.list("/").ok() ? '.' : 'x';
      seen += faulty.facts("/").ok() ? '.' : 'x';
    }
    return seen;
  };
  EXPECT_EQ(fails({.after = 3}), "...x......");
  EXPECT_EQ(fails({.after = 3, .once = false}), "...xxxxxxx");
  EXPECT_EQ(fails({.after = 1, .only = FileCall::kList}), "..x.......");
  EXPECT_EQ(
      fails({.after = 1, .once = false, .only = FileCall::kFacts}),
      "...x.x.x.x");
  EXPECT_EQ(fails({.kind = Kind::kPowerLoss, .after = 4}), "....xxxxxx");
  EXPECT_EQ(
      fails({.kind = Kind::kPowerLoss, .only = FileCall::kFacts}),
      ".xxxxxxxxx");
  EXPECT_EQ(fails({.kind = Kind::kShortWrite, .after = 9}), ".........x");
}

TEST(FaultyFileSystem, LeavesTheFirstHalfOfAShortWrite) {
  FaultyFileSystem faulty(MemoryFileSystem::make());
  const auto file = make_file(faulty, "/a", "........");
  faulty.fail({.kind = Kind::kShortWrite, .only = FileCall::kWrite});
  const Status status = file->write(Bytes(0), bytes_of("abcdefgh"));
  EXPECT_EQ(status.code(), ErrorCode::kIo);
  EXPECT_EQ(text_of(*file), "abcd....");
}

TEST(FaultyFileSystem, TakesWhatAFailedSyncLostForLost) {
  const auto memory = MemoryFileSystem::make();
  FaultyFileSystem faulty(memory);
  make_durable(faulty, "/a", "old");
  const auto file = faulty.open("/a", Access::kReadWrite).value();
  ASSERT_TRUE(file->write(Bytes(0), bytes_of("new")).ok());
  faulty.fail({.only = FileCall::kSync});
  EXPECT_EQ(file->sync().code(), ErrorCode::kIo);
  EXPECT_EQ(file->sync().code(), ErrorCode::kIo) << "not again, as if written";
  const auto other = faulty.open("/a", Access::kReadWrite).value();
  EXPECT_EQ(text_of(*other), "new");
  EXPECT_TRUE(other->sync().ok()) << "another file knows nothing of it";
  const auto left = memory->power_loss({PowerLoss::Keep::kEverything});
  EXPECT_EQ(text_of(*left, "/a"), "old");
}

TEST(FaultyFileSystem, MayHaveDoneWhatThePowerCutShort) {
  // The rename that meets the loss may be on the device or not.
  const auto memory = MemoryFileSystem::make();
  FaultyFileSystem faulty(memory);
  make_durable(faulty, "/a", "x");
  faulty.fail({.kind = Kind::kPowerLoss});
  EXPECT_FALSE(faulty.rename("/a", "/b").ok());
  EXPECT_FALSE(faulty.rename("/b", "/c").ok());
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto left = memory->power_loss({PowerLoss::Keep::kSome, seed});
    seen.insert(left->list("/").value().at(0));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"a", "b"}));
}

TEST(FaultyFileSystem, DoesNotSyncWhenThePowerGoes) {
  const auto memory = MemoryFileSystem::make();
  FaultyFileSystem faulty(memory);
  const auto file = make_file(faulty, "/a", "text");
  ASSERT_TRUE(faulty.sync_folder("/").ok());
  faulty.fail({.kind = Kind::kPowerLoss, .only = FileCall::kSync});
  EXPECT_FALSE(file->sync().ok());
  EXPECT_EQ(text_of(*memory->power_loss({}), "/a"), "");
  EXPECT_EQ(
      text_of(*memory->power_loss({PowerLoss::Keep::kEverything}), "/a"),
      "text")
      << "but all of it may have got there";
}

TEST(FaultyFileSystem, RemembersTheLastCallsOnly) {
  FaultyFileSystem faulty(MemoryFileSystem::make());
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(faulty.facts("/").ok());
  }
  EXPECT_EQ(faulty.trace().substr(0, 6), "#744 f");
  EXPECT_EQ(faulty.calls(), 1000);
}

} // namespace
} // namespace holdfast
