// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to PrefixCache: what brings its texts to the disk. Made and
// destroyed by the cache's thread; its members say what is for others.

#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "holdfast/prefix/path_store.h"
#include "holdfast/prefix/prefix_cache.h"
#include "holdfast/tier/durability.h"
#include "holdfast/tier/spill_queue.h"

namespace holdfast {

struct PrefixCache::Disk {
  Disk(const PrefixCacheOptions& options, std::unique_ptr<PathStore> paths)
      : store(std::move(paths)),
        // One record may be all that RAM has; its images are there already.
        queue(
            {.clock = options.clock,
             .spill_bytes =
                 std::max(options.ram, SpillQueueOptions().spill_bytes)}),
        durability(queue, *store, *store, {.clock = options.clock}) {}

  const std::unique_ptr<PathStore> store;
  SpillQueue queue;
  Durability durability;
};

} // namespace holdfast
