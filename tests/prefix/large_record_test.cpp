// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A text whose state is larger than what a queue of writes holds by default.

#include <memory>
#include <numeric>

#include <gtest/gtest.h>

#include "holdfast/env/pages.h"
#include "holdfast/tier/spill_queue.h"
#include "tests/prefix/cache_process.h"

namespace holdfast::test {
namespace {

/// A text with more state than the queue's usual room, and a cache over it.
struct LargeText {
  explicit LargeText(PrefixCacheOptions with) : state(wide()) {
    const Bytes image = state.groups().group(0).phases[0].layout.bytes();
    const int64_t blocks =
        SpillQueueOptions().spill_bytes.get() / image.get() + 1;
    bytes = Bytes(blocks * image.get());
    with.disk = DiskTier::open({.folder = "/state",
                                .files = MemoryFileSystem::make(),
                                .clock = std::make_shared<ManualClock>()})
                    .value();
    cache = std::make_unique<PrefixCache>(state, with);
    tokens.resize(static_cast<size_t>(blocks * kBlockTokens));
    std::iota(tokens.begin(), tokens.end(), 0);
  }
  static StateOptions wide() {
    StateOptions result = options("f32");
    const AttentionSpec layer{
        .query_heads = 16,
        .kv_heads = 16,
        .key_dim = 256,
        .value_dim = 256,
        .scale = 0.1f,
        .softcap = 0.0f,
        .visibility = {},
        .sink_logits = {}};
    result.layers.assign(8, layer);
    return result;
  }
  void put() {
    const Bytes image = state.groups().group(0).phases[0].layout.bytes();
    std::vector<std::vector<BlockRef>> held(1);
    for (Bytes done; done < bytes; done += image) {
      held[0].push_back(state.adopt_image(0, 0, allocate_pages(image.get())));
    }
    const ChainFacts facts{
        .committed = Position(std::ssize(tokens)), .phases = {0}};
    const RowId row = state.adopt(state.assemble(tokens, facts, held));
    cache->put(row, {.tokens = tokens});
  }
  void expect_written() {
    const FlushReport report = cache->flush();
    EXPECT_TRUE(report.durable) << report.text();
    EXPECT_EQ(report.dropped, 0);
    EXPECT_GT(cache->written(), bytes);
  }

  State state;
  std::unique_ptr<PrefixCache> cache;
  std::vector<int32_t> tokens;
  Bytes bytes; // of its images
};

TEST(LargeRecord, OfMoreThanTheQueuesUsualRoomIsStillWritten) {
  LargeText text({});
  text.put();
  text.expect_written();
}

// The queue's room was that of the day it was made.
TEST(LargeRecord, IsWrittenAfterTheBudgetWasRaised) {
  LargeText own({.ram = Bytes(1 << 20), .disk = {}});
  own.cache->set_budget(Bytes(int64_t{1} << 30));
  own.put();
  own.expect_written();
}

TEST(LargeRecord, IsWrittenAfterASharedBudgetWasRaised) {
  const auto ram = std::make_shared<SharedRam>(Bytes(1 << 20));
  LargeText text({.shared_ram = ram, .disk = {}});
  ram->set_limit(Bytes(int64_t{1} << 30));
  text.put();
  text.expect_written();
}

} // namespace
} // namespace holdfast::test
