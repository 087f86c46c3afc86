// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Every call that a workload makes of its file system fails once, in every way;
// power is lost at every call, under every policy of what a device keeps. What
// was acknowledged is there afterwards, nothing half-written is offered.

#include <gtest/gtest.h>

#include "tests/tier/crash_support.h"

namespace holdfast::test {

void PrintTo(const Workload& workload, std::ostream* out) {
  *out << workload.name;
}

namespace {

using Kind = FileFault::Kind;
using Keep = PowerLoss::Keep;

/// Calls that change something, or make a change durable. Losing power at any
/// other is losing it at the next one of these.
constexpr FileCall kChanges[] = {
    FileCall::kCreate,
    FileCall::kWrite,
    FileCall::kTruncate,
    FileCall::kSync,
    FileCall::kPunch,
    FileCall::kRename,
    FileCall::kRemove,
    FileCall::kCreateFolder,
    FileCall::kSyncFolder,
    FileCall::kLock,
};

/// A workload in which every so many-th call fails in turn; each one in the
/// long form.
struct CrashCase : Workload {
  int64_t step = 1;
};

class TierCrash : public testing::TestWithParam<CrashCase> {
 protected:
  const Images images_;

  /// Runs the workload with a fault, then compares what `keep` leaves with the
  /// truth. False where the run made too few calls to meet the fault.
  bool survives(const FileFault& fault, const std::vector<PowerLoss>& losses) {
    const auto memory = start_of(GetParam());
    const auto faulty = std::make_shared<FaultyFileSystem>(memory);
    faulty->fail(fault);
    const Truth truth = run(faulty, GetParam(), images_);
    if (faulty->failed() == 0) {
      return false;
    }
    ++faults_;
    for (const PowerLoss& loss : losses) {
      expect_truth(memory->power_loss(loss), GetParam(), truth, images_);
      if (HasFailure()) {
        ADD_FAILURE() << "call " << fault.after << " of "
                      << (fault.only ? name(*fault.only) : "all") << ", kind "
                      << static_cast<int>(fault.kind) << ", once " << fault.once
                      << ", keep " << static_cast<int>(loss.keep) << ", seed "
                      << loss.seed << "\n"
                      << faulty->trace();
        return false;
      }
    }
    return true;
  }

  int64_t faults_ = 0;
};

// As after the death of the process: its locks and leases mean nothing.
const std::vector<PowerLoss> kDeath = {{.keep = Keep::kEverything, .seed = 0}};

// FAULTS B66: a save that was torn.
TEST_P(TierCrash, AnyCallMayFailOnce) {
  for (int64_t k = 0; survives(
           {.kind = Kind::kIo, .after = k, .once = true, .only = {}}, kDeath);
       k += GetParam().step) {
  }
  EXPECT_GE(faults_, 100 / GetParam().step);
}

TEST_P(TierCrash, AnyChangeMayLackRoomOrEndHalfWay) {
  for (const FileCall call : kChanges) {
    for (int64_t k = 0; survives(
             {.kind = Kind::kOutOfBudget,
    .after = k,
    .once = true,
    .only = call},
             kDeath);
         k += GetParam().step) {
    }
  }
  for (int64_t k = 0; survives(
           {.kind = Kind::kShortWrite,
  .after = k,
  .once = true,
  .only = FileCall::kWrite},
           kDeath);
       k += GetParam().step) {
  }
  EXPECT_GE(faults_, 40 / GetParam().step);
}

TEST_P(TierCrash, AllCallsMayFailFromAnyOneOn) {
  for (int64_t k = 0; survives(
           {.kind = Kind::kIo, .after = k, .once = false, .only = {}}, kDeath);
       k += GetParam().step) {
  }
  EXPECT_GE(faults_, 100 / GetParam().step);
}

TEST_P(TierCrash, TheDeviceMayBeFullFromAnyWriteOn) {
  for (int64_t k = 0; survives(
           {.kind = Kind::kOutOfBudget,
  .after = k,
  .once = false,
  .only = FileCall::kWrite},
           kDeath);
       k += GetParam().step) {
  }
  EXPECT_GE(faults_, 10 / GetParam().step);
}

TEST_P(TierCrash, PowerMayBeLostAtAnyCall) {
  for (const FileCall call : kChanges) {
    for (int64_t k = 0;; k += GetParam().step) {
      const auto seed = static_cast<uint64_t>(k);
      const std::vector<PowerLoss> losses = {
          {.keep = Keep::kNothing, .seed = 0},
          {.keep = Keep::kEverything, .seed = 0},
          {.keep = Keep::kSome, .seed = 2 * seed},
          {.keep = Keep::kSome, .seed = 2 * seed + 1},
          {.keep = Keep::kTornPrefix, .seed = seed},
          {.keep = Keep::kTornSectors, .seed = seed}};
      if (!survives(
              {.kind = Kind::kPowerLoss,
               .after = k,
               .once = false,
               .only = call},
              losses)) {
        break;
      }
    }
  }
  EXPECT_GE(faults_, 40 / GetParam().step);
}

TEST_P(TierCrash, PowerMayBeLostAfterTheLastCall) {
  const auto memory = start_of(GetParam());
  const Truth truth = run(memory, GetParam(), images_);
  expect_truth(
      memory->power_loss({.keep = Keep::kNothing, .seed = 0}),
      GetParam(),
      truth,
      images_);
}

std::vector<CrashCase> every(int64_t step) {
  std::vector<CrashCase> cases;
  for (const Workload& workload : workloads()) {
    cases.push_back({workload, step});
  }
  return cases;
}

std::string name_of(const testing::TestParamInfo<CrashCase>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Workloads,
    TierCrash,
    testing::ValuesIn(every(11)),
    name_of);
INSTANTIATE_TEST_SUITE_P(
    DISABLED_Long,
    TierCrash,
    testing::ValuesIn(every(1)),
    name_of);

} // namespace
} // namespace holdfast::test
