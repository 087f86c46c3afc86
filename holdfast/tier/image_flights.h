// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to DiskTier: images that stores are writing. One that another store
// writes already is waited for, so that an image is written once however many
// writers there are. Threads: any.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "holdfast/base/key_hash.h"
#include "holdfast/tier/ids.h"

namespace holdfast {

class ImageFlights {
 public:
  /// Scope, key of the node (high, low), slot.
  using Name = std::tuple<ScopeId, uint64_t, uint64_t, ImageSlot>;

  /// Takes all of them, or none where another store has one: then the count to
  /// wait from.
  std::optional<uint64_t> take(const std::vector<Name>& names);
  void give_back(const std::vector<Name>& names);
  /// Until a store gave something back since that count.
  void wait(uint64_t count);

 private:
  std::mutex mutex_; // for all below
  std::condition_variable given_back_;
  std::set<Name> taken_;
  uint64_t count_ = 0;
};

} // namespace holdfast
