// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of generations in a disk tier whose calls fail, or whose state
// goes: the former one stays until a newer one is there.

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/env/faulty_file_system.h"
#include "tests/prefix/generation_rig.h"

namespace holdfast {
namespace {

using namespace test;

// The former is untouched, for this process and for one after a power loss.
TEST(GenerationStore, AWriteThatFailsAtAnyCallKeepsTheFormerCheckpoint) {
  bool failed = true;
  for (int64_t call = 0; failed; ++call) {
    SCOPED_TRACE(call);
    const auto memory = MemoryFileSystem::make();
    const auto faulty = std::make_shared<FaultyFileSystem>(memory);
    Rig rig(faulty);
    auto attempt = rig.begin();
    rig.grow(130);
    rig.save(attempt, "one");
    ASSERT_TRUE(rig.flush().durable);
    rig.grow(200);
    rig.save(attempt, "two");
    faulty->fail({.after = call});
    const ContinuationReport report = rig.flush();
    failed = faulty->failed() > 0;
    faulty->heal();
    EXPECT_TRUE(report.durable || failed);
    EXPECT_EQ(report.failed_attempts, report.durable ? 0 : 1);
    const std::string now = rig.body();
    EXPECT_TRUE(now == "two" || (!report.durable && now == "one")) << now;
    const auto later = open_disk(memory->power_loss({}));
    const std::string found = stored_body(*later);
    EXPECT_TRUE(found == "two" || (!report.durable && found == "one")) << found;
    // The next one is written as though nothing had happened.
    rig.save(attempt, "three");
    EXPECT_TRUE(rig.flush().durable);
    EXPECT_EQ(rig.body(), "three");
    rig.tree().check();
  }
}

TEST(GenerationStore, ADeathAtAnyCallLeavesTheFormerOrTheNewCheckpoint) {
  bool died = true;
  for (int64_t call = 0; died; ++call) {
    SCOPED_TRACE(call);
    const auto memory = MemoryFileSystem::make();
    const auto faulty = std::make_shared<FaultyFileSystem>(memory);
    std::optional<Rig> rig(faulty);
    {
      auto attempt = rig->begin();
      rig->grow(130);
      rig->save(attempt, "one");
      ASSERT_TRUE(rig->flush().durable);
      rig->grow(200);
      rig->save(attempt, "two");
      faulty->fail({.kind = FileFault::Kind::kPowerLoss, .after = call});
      const bool durable = rig->flush().durable;
      died = faulty->failed() > 0;
      EXPECT_TRUE(durable || died);
    }
    rig.reset();
    using Keep = PowerLoss::Keep;
    for (const Keep keep :
         {Keep::kNothing,
          Keep::kEverything,
          Keep::kSome,
          Keep::kTornPrefix,
          Keep::kTornSectors}) {
      const auto later = open_disk(memory->power_loss(
          {.keep = keep, .seed = static_cast<uint64_t>(call)}));
      const std::string found = stored_body(*later);
      EXPECT_TRUE(found == "two" || found == "one") << found;
      EXPECT_TRUE(later->verify().value().faults.empty());
    }
  }
}

TEST(GenerationStore, StateThatIsEvictedTakesNoCheckpointWithIt) {
  const auto files = MemoryFileSystem::make();
  Rig rig(files);
  auto attempt = rig.begin();
  rig.grow(200);
  rig.save(attempt, "one");
  ASSERT_TRUE(rig.flush().durable);
  Rig other(files); // another process, of which this one does not hear
  ASSERT_TRUE(other.disk().evict(Bytes(int64_t{1} << 40)).ok());
  EXPECT_EQ(other.disk().stats().value().nodes, 0);
  EXPECT_EQ(rig.body(), "one");
  // It builds on blocks that are gone: RAM has them, and they go along.
  rig.grow(260);
  rig.save(attempt, "two");
  EXPECT_TRUE(rig.flush().durable);
  EXPECT_EQ(rig.body(), "two");
  EXPECT_EQ(rig.disk().stats().value().nodes, 4);
  EXPECT_EQ(Rig(files).usable_of(256), Position(256));
  rig.tree().check();
  rig.save(attempt, "three"); // and the next one writes its body alone
  EXPECT_TRUE(rig.flush().durable);
  EXPECT_EQ(rig.disk().stats().value().nodes, 4);
}

// What a store evicted before it failed is known to be gone: no node of the
// index names one that the disk lacks.
TEST(GenerationStore, AStoreThatEvictsAndFailsLeavesNothingThatIsNotThere) {
  bool failed = true;
  int64_t evicted = 0;
  for (int64_t call = 0; failed; ++call) {
    SCOPED_TRACE(call);
    const auto faulty =
        std::make_shared<FaultyFileSystem>(MemoryFileSystem::make());
    Rig rig(faulty, {.max_bytes = Bytes(1 << 20)});
    rig.grow(kTokens);
    auto before = rig.begin("before");
    rig.save(before, std::string(100000, 'x'));
    ASSERT_TRUE(rig.flush().durable);
    const size_t all = rig.tree().stored_nodes().size();
    ASSERT_EQ(all, static_cast<size_t>(kTokens / kBlockTokens));
    auto attempt = rig.begin();
    // What is left of the disk is less than that; the nodes make room.
    const Bytes used = rig.disk().stats().value().used;
    rig.save(
        attempt, std::string(static_cast<size_t>((1 << 20) - used.get()), 'y'));
    faulty->fail({.after = call});
    std::ignore = rig.flush();
    failed = faulty->failed() > 0;
    faulty->heal();
    const std::vector<NodeId> known = rig.tree().stored_nodes();
    for (const NodeId id : known) {
      EXPECT_TRUE(rig.disk().path(id).ok()) << "a node that is gone";
    }
    evicted += failed && known.size() < all ? 1 : 0;
    rig.tree().check();
  }
  EXPECT_GT(evicted, 0);
}

} // namespace
} // namespace holdfast
