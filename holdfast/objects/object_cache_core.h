// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to ObjectCache: its parts and its lock.
//
// A read from disk takes place without the lock. What is put or removed
// meanwhile under the same key is newer: the read then keeps nothing.
// Objects that are let go are freed after the lock.

#pragma once

#include <mutex>
#include <unordered_map>
#include <vector>

#include "holdfast/objects/claims.h"
#include "holdfast/objects/object_budget.h"
#include "holdfast/objects/object_cache.h"
#include "holdfast/objects/object_index.h"
#include "holdfast/objects/object_store.h"
#include "holdfast/tier/durability.h"
#include "holdfast/tier/spill_queue.h"

namespace holdfast {

class ObjectCache::Core {
 public:
  explicit Core(ObjectCacheOptions options);
  ~Core();

  /// Room of its own, where others may leave for it.
  std::optional<OpenObject> open(Bytes size);
  /// Lets go of what is above the budget, where it can.
  void shrink();
  /// "7 of 9 in use", in bytes.
  std::string use_text() const;
  std::optional<Object> from_ram(const ObjectKey& key);
  std::optional<Object> from_disk(const ObjectKey& key);
  std::optional<Object> get(const ObjectKey& key);
  Object put(const ObjectKey& key, const Object& object, int64_t cost);
  /// Off the disk too. `only`: unless RAM has another object under the key by
  /// now. What is put meanwhile stays, and is written again.
  Status remove(const ObjectKey& key, const Object* only = nullptr);

  using Found = std::vector<std::optional<Object>>; // [key]
  /// Fills in what this call finds or makes of the keys at these indices; which
  /// are left to other threads.
  std::vector<size_t> find_or_make(
      std::span<const ObjectKey> keys,
      std::span<const size_t> wanted,
      const Maker& make,
      Found& found);

  const ObjectCacheOptions options;
  ObjectBudget budget;
  Claims claims;
  mutable std::mutex mutex; // for the next three
  ObjectIndex index;
  ObjectStats counted; // since the start
  struct Reading {
    int count = 0;
    bool overtaken = false;
  };
  std::unordered_map<ObjectKey, Reading, ObjectKeyHash> reading;

  struct Disk {
    Disk(Core& core, const ObjectCacheOptions& options);
    ObjectStore store;
    SpillQueue queue;
    Durability durability;
  };
  /// The cache among those of a shared budget; null where it has its own.
  class Share;
  std::unique_ptr<Share> share;
  std::unique_ptr<Disk> disk; // last: its threads use the rest

 private:
  class Read;
  /// Counts as a use, and in no figure.
  std::optional<Object> there(const ObjectKey& key);
  /// The stored bytes as an object within the budget, where there is room.
  std::optional<Object> adopt(const MappedImage& image);
  /// Under the lock: the key's object, a use of it; one of a file that was cut
  /// short goes into `cut`, to be freed later.
  const ObjectIndex::Entry* use(const ObjectKey& key, Object& cut);
  /// Under the lock: reads of the key that are under way keep nothing.
  void overtake(const ObjectKey& key);
  /// Lets others leave until so many bytes fit; false where they cannot.
  bool make_room(Bytes more);
  /// What the objects that left held.
  Bytes let_go(Bytes wanted, ObjectIndex::Take how);
  void make_missing(
      std::span<const ObjectKey> keys,
      std::span<const size_t> missing,
      const Maker& make,
      Claims::Held& held,
      Found& found);
};

} // namespace holdfast
