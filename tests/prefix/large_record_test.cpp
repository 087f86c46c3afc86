// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A text whose state is larger than what a queue of writes holds by default.

#include <gtest/gtest.h>

#include "holdfast/env/pages.h"
#include "holdfast/tier/spill_queue.h"
#include "tests/prefix/cache_process.h"

namespace holdfast::test {
namespace {

TEST(LargeRecord, OfMoreThanTheQueuesUsualRoomIsStillWritten) {
  StateOptions wide = options("f32");
  const AttentionSpec layer{
      .query_heads = 16,
      .kv_heads = 16,
      .key_dim = 256,
      .value_dim = 256,
      .scale = 0.1f,
      .softcap = 0.0f,
      .visibility = {},
      .sink_logits = {}};
  wide.layers.assign(8, layer);
  State state(wide);
  const Bytes image = state.groups().group(0).phases[0].layout.bytes();
  const int64_t blocks =
      SpillQueueOptions().spill_bytes.get() / image.get() + 1;

  PrefixCacheOptions with;
  with.disk = DiskTier::open({.folder = "/state",
                              .files = MemoryFileSystem::make(),
                              .clock = std::make_shared<ManualClock>()})
                  .value();
  PrefixCache cache(state, with);
  std::vector<int32_t> tokens(static_cast<size_t>(blocks * kBlockTokens));
  std::iota(tokens.begin(), tokens.end(), 0);
  std::vector<std::vector<BlockRef>> held(1);
  for (int64_t block = 0; block < blocks; ++block) {
    held[0].push_back(state.adopt_image(0, 0, allocate_pages(image.get())));
  }
  const ChainFacts facts{
      .committed = Position(std::ssize(tokens)), .phases = {0}};
  const RowId row = state.adopt(state.assemble(tokens, facts, held));
  cache.put(row, {.tokens = tokens});
  const FlushReport report = cache.flush();
  EXPECT_TRUE(report.durable) << report.text();
  EXPECT_EQ(report.dropped, 0);
  EXPECT_GT(cache.written(), Bytes(blocks * image.get()));
}

} // namespace
} // namespace holdfast::test
