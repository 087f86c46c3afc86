// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to PrefixCache: what brings its texts to the disk. Made and
// destroyed by the cache's thread; its members say what is for others.

#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "holdfast/prefix/generation_store.h"
#include "holdfast/prefix/path_store.h"
#include "holdfast/prefix/prefix_cache.h"
#include "holdfast/prefix/tree_listener.h"
#include "holdfast/tier/continuations.h"
#include "holdfast/tier/durability.h"
#include "holdfast/tier/spill_queue.h"

namespace holdfast {

struct PrefixCache::Disk {
  /// Of checkpoints that wait to be written. One's images take at most half of
  /// it, so that it always finds room once those before it are written.
  static constexpr Bytes kCheckpointBytes{int64_t{64} << 20};
  static constexpr Bytes kCheckpointImages{int64_t{32} << 20};
  /// While one waits for its syncs others keep the device busy.
  static constexpr int kWriters = 4;

  Disk(
      const PrefixCacheOptions& options,
      Bytes ram,
      PrefixTree& tree,
      std::unique_ptr<PathStore> paths,
      std::unique_ptr<GenerationStore> checkpoints)
      : listener(tree, *options.disk),
        store(std::move(paths)),
        generations(std::move(checkpoints)),
        // One record may be all that RAM has; its images are there already.
        queue(
            {.clock = options.clock,
             .writers = kWriters,
             .spill_bytes = std::max(ram, SpillQueueOptions().spill_bytes),
             .checkpoint_bytes = kCheckpointBytes}),
        durability(
            queue,
            *store,
            *store,
            {.clock = options.clock,
             // What was being written could not leave.
             .stored = [&tree](const RecordKey&) { tree.shrink(); }}),
        continuations(queue, *generations, options.clock) {}

  TreeListener listener; // before anything is loaded or stored
  const std::unique_ptr<PathStore> store;
  const std::unique_ptr<GenerationStore> generations;
  SpillQueue queue;
  Durability durability;
  Continuations continuations;
};

} // namespace holdfast
