// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Every call that a workload makes of its file system fails once, in every way;
// power is lost at every call, under every policy of what a device keeps. What
// was acknowledged is there afterwards, nothing half-written is offered.

#include <gtest/gtest.h>

#include "tests/tier/crash_support.h"

namespace holdfast::test {
namespace {

using Kind = FileFault::Kind;
using Keep = PowerLoss::Keep;

class TierCrash : public testing::TestWithParam<Workload> {
 protected:
  const Images images_;

  int64_t calls_of_a_whole_run() const {
    const auto faulty =
        std::make_shared<FaultyFileSystem>(MemoryFileSystem::make());
    const Truth truth = run(faulty, GetParam(), images_);
    EXPECT_GE(truth.images.size() + truth.objects.size(), 2u);
    return faulty->calls();
  }

  /// Fails call number `k`, alone or with all that follow until the run ends.
  void fail_call(int64_t k, Kind kind, bool once) const {
    const auto memory = MemoryFileSystem::make();
    const auto faulty = std::make_shared<FaultyFileSystem>(memory);
    faulty->fail({.kind = kind, .after = k, .once = once, .only = {}});
    const Truth truth = run(faulty, GetParam(), images_);
    SCOPED_TRACE(
        "call " + std::to_string(k) + ", kind " +
        std::to_string(static_cast<int>(kind)) + "\n" +
        (testing::Test::HasFailure() ? faulty->trace() : std::string()));
    // As after the death of the process: its locks and leases mean nothing.
    expect_truth(
        memory->power_loss({.keep = Keep::kEverything, .seed = 0}),
        GetParam(),
        truth,
        images_);
    ASSERT_FALSE(testing::Test::HasFailure());
  }

  void lose_power(int64_t k, PowerLoss loss) const {
    const auto memory = MemoryFileSystem::make();
    const auto faulty = std::make_shared<FaultyFileSystem>(memory);
    faulty->fail(
        {.kind = Kind::kPowerLoss, .after = k, .once = false, .only = {}});
    const Truth truth = run(faulty, GetParam(), images_);
    SCOPED_TRACE(
        "power lost at call " + std::to_string(k) + ", keep " +
        std::to_string(static_cast<int>(loss.keep)) + ", seed " +
        std::to_string(loss.seed) + "\n" + faulty->trace());
    expect_truth(memory->power_loss(loss), GetParam(), truth, images_);
    ASSERT_FALSE(testing::Test::HasFailure());
  }
};

// FAULTS B66: a save that was torn.
TEST_P(TierCrash, AnyCallMayFailOnce) {
  const int64_t calls = calls_of_a_whole_run();
  for (int64_t k = 0; k < calls; ++k) {
    for (const Kind kind : {Kind::kIo, Kind::kOutOfBudget, Kind::kShortWrite}) {
      ASSERT_NO_FATAL_FAILURE(fail_call(k, kind, true));
    }
  }
}

TEST_P(TierCrash, AllCallsMayFailFromAnyOneOn) {
  const int64_t calls = calls_of_a_whole_run();
  for (int64_t k = 0; k < calls; ++k) {
    ASSERT_NO_FATAL_FAILURE(fail_call(k, Kind::kIo, false));
    ASSERT_NO_FATAL_FAILURE(fail_call(k, Kind::kOutOfBudget, false));
  }
}

TEST_P(TierCrash, PowerMayBeLostAtAnyCall) {
  const int64_t calls = calls_of_a_whole_run();
  for (int64_t k = 0; k < calls; ++k) {
    for (const Keep keep :
         {Keep::kNothing,
          Keep::kEverything,
          Keep::kSome,
          Keep::kTornPrefix,
          Keep::kTornSectors}) {
      ASSERT_NO_FATAL_FAILURE(
          lose_power(k, {.keep = keep, .seed = static_cast<uint64_t>(k)}));
    }
    ASSERT_NO_FATAL_FAILURE(lose_power(
        k, {.keep = Keep::kSome, .seed = static_cast<uint64_t>(~k)}));
  }
}

TEST_P(TierCrash, PowerMayBeLostAfterTheLastCall) {
  const auto memory = MemoryFileSystem::make();
  const Truth truth = run(memory, GetParam(), images_);
  expect_truth(
      memory->power_loss({.keep = Keep::kNothing, .seed = 0}),
      GetParam(),
      truth,
      images_);
}

INSTANTIATE_TEST_SUITE_P(
    Workloads,
    TierCrash,
    testing::ValuesIn(workloads()),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace holdfast::test
