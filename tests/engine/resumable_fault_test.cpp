// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Resumable runs whose state is gone, whose disk fails, or whose checkpoint is
// not one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/env/faulty_file_system.h"
#include "tests/code_of.h"
#include "tests/engine/resumable_rig.h"
#include "tests/env/stuck_file_system.h"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

// Nothing of its state is left: it is computed again, with the same bits.
TEST(ResumableRun, WhoseStateWasEvictedEndsAlike) {
  Request request;
  request.choice.kv = "q8";
  const auto files = MemoryFileSystem::make();
  Process(request, files).run_until(30);
  const auto disk =
      DiskTier::open(
          {.folder = "/state", .files = files, .clock = system_clock()})
          .value();
  while (disk->stats().value().nodes > 0) { // its checkpoint goes last
    ASSERT_TRUE(disk->evict(Bytes(1)).ok());
  }
  Process process(request, files);
  const auto run = process.begin(system_clock());
  const auto results = process.run(run.get());
  EXPECT_GT(results[0].resumed_tokens, 0);
  EXPECT_EQ(results[0].reused_tokens, 0);
  expect_same(results, uninterrupted(request));
}

// From some call on the disk fails: the texts are right all the same, and the
// last checkpoint that was stored is there.
TEST(ResumableRun, WhoseDiskFailsGoesOnAndSaysWhatIsNotSaved) {
  Request request;
  request.every_tokens = 3;
  const auto expected = uninterrupted(request);
  for (const int64_t call : {0, 20, 60, 150, 400}) {
    SCOPED_TRACE(call);
    const auto memory = MemoryFileSystem::make();
    const auto faulty = std::make_shared<FaultyFileSystem>(memory);
    {
      Process process(request, faulty);
      const auto run = process.begin(system_clock());
      faulty->fail({.after = call, .once = false});
      expect_same(process.run(run.get()), expected);
      EXPECT_TRUE(call > 0 || !run->flush().durable);
      faulty->heal();
    }
    Process process(request, memory->power_loss({}));
    const auto run = process.begin(system_clock());
    EXPECT_EQ(run->damage(), "");
    expect_same(process.run(run.get()), expected);
  }
}

// On a disk that does not answer, an interrupt ends a run all the same.
TEST(ResumableRun, ThatIsInterruptedDoesNotWaitForADiskThatDoesNotAnswer) {
  Request request;
  const auto memory = MemoryFileSystem::make();
  {
    const auto stuck = std::make_shared<StuckFileSystem>(memory);
    Process process(request, stuck);
    ResumableRun run(
        process.cache(),
        {.key = request.key,
         .every_tokens = 1,
         .last_wait = std::chrono::milliseconds(20)});
    std::atomic<bool> interrupted{false};
    int64_t pieces = 0;
    const auto results = process.run(
        &run,
        {.text =
             [&](int64_t, std::string_view) {
               ++pieces;
               if (pieces == 3) {
                 stuck->stick();
               }
               interrupted = pieces == 9;
             },
         .interrupted = &interrupted});
    EXPECT_EQ(results[0].finish_reason, FinishReason::kInterrupted);
    EXPECT_FALSE(run.flush(system_clock()->now()).durable);
    stuck->let_go();
    EXPECT_TRUE(run.flush().durable);
  }
  Process process(request, memory);
  const auto run = process.begin(system_clock());
  expect_same(process.run(run.get()), uninterrupted(request));
}

// An older attempt's write, under way when a newer one read what was there, is
// removed again behind it: what the newer one has read does not go with it.
TEST(ResumableRun, KeepsWhatItReadThoughItIsRemovedFromTheDiskAfterwards) {
  const Request request;
  const auto files = MemoryFileSystem::make();
  ASSERT_FALSE(Process(request, files).run_until(30).has_value());
  {
    Process process(request, files);
    const auto run = process.begin(std::make_shared<StepClock>(2));
    ASSERT_TRUE(run->point().has_value());
    ASSERT_TRUE(
        process.cache().disk()->remove_record({"generation", "key/k"}).ok());
    EXPECT_THROW(process.run(run.get()), Died);
    EXPECT_TRUE(run->flush().durable);
  }
  Process process(request, files);
  const auto run = process.begin(system_clock());
  EXPECT_TRUE(run->point().has_value());
  expect_same(process.run(run.get()), uninterrupted(request));
}

/// Puts that in the place of the key's checkpoint.
void store_body(Process& process, const RecordBody& body) {
  auto attempt = process.cache().continuations()->begin("k").value();
  attempt.checkpoint(
      {.content = process.cache().checkpoint({}, body),
       .tokens = Position(1),
       .generated = Position(1)});
  ASSERT_TRUE(process.cache().continuations()->flush().durable);
}

TEST(ResumableRun, WhoseCheckpointIsDamagedBeginsAnewAndSaysSo) {
  const Request request;
  for (const char* name : {".resume", "something else"}) {
    const auto files = MemoryFileSystem::make();
    {
      Process process(request, files);
      store_body(process, RecordBody().set(name, {1, "no resume point"}));
    }
    Process process(request, files);
    const auto run = process.begin(system_clock());
    EXPECT_FALSE(run->point().has_value());
    EXPECT_THAT(run->damage(), HasSubstr("[resume"));
    expect_same(process.run(run.get()), uninterrupted(request));
  }
}

TEST(ResumableRun, OfALaterVersionIsRefusedAndKept) {
  const Request request;
  std::string later = encode(ResumePoint());
  later[8] = 2;
  for (const RecordBody::Part& part :
       {RecordBody::Part{1, later}, RecordBody::Part{2, later}}) {
    const auto files = MemoryFileSystem::make();
    const RecordBody body = RecordBody().set(".resume", part);
    {
      Process process(request, files);
      store_body(process, body);
    }
    Process process(request, files);
    EXPECT_EQ(
        code_of([&] { process.begin(system_clock()); }),
        ErrorCode::kUnsupported);
    EXPECT_EQ(process.cache().checkpoint_body("k").value(), body);
  }
}

} // namespace
} // namespace holdfast::test
