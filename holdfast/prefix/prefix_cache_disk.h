// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to PrefixCache: what brings its texts to the disk. Made and
// destroyed by the cache's thread; its members say what is for others.

#pragma once

#include <algorithm>
#include <functional>
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
  /// Of images that one checkpoint holds, where eight blocks, those of a usual
  /// chunk, are not more.
  static constexpr Bytes kCheckpointImages{int64_t{32} << 20};
  /// Of checkpoints that wait to be written: twice their images, so that one
  /// always finds room once those before it are written.
  static Bytes checkpoint_room(Bytes images) {
    return Bytes(2 * std::max(images, kCheckpointImages).get());
  }
  /// While one waits for its syncs others keep the device busy.
  static constexpr int kWriters = 4;

  Disk(
      const PrefixCacheOptions& options,
      std::function<Bytes()> ram,
      Bytes checkpoint_images,
      PrefixTree& tree,
      std::unique_ptr<PathStore> paths,
      std::unique_ptr<GenerationStore> checkpoints)
      : listener(tree, *options.disk),
        store(std::move(paths)),
        generations(std::move(checkpoints)),
        // One record may be all that RAM has, now; its images are there
        // already.
        queue(
            {.clock = options.clock,
             .writers = kWriters,
             .more_spill_bytes = std::move(ram),
             .checkpoint_bytes = checkpoint_room(checkpoint_images)}),
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
