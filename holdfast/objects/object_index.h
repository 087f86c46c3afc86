// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to objects/: the objects in RAM by key, and who leaves first.
//
// First goes what the disk has as well, the least recently used before others.
// Then what only RAM has, by GreedyDual: an object's rank is the rank of the
// last one that left plus its cost a byte, set at each use, and the lowest
// leaves; so what is dear to make stays longer, but not for ever. What somebody
// else holds is passed over: letting go of it would free nothing.
// Threads: none of its own; the cache's lock guards it.

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "holdfast/objects/object.h"
#include "holdfast/objects/shared_ram.h"

namespace holdfast {

class ObjectIndex {
 public:
  struct Entry {
    Object object;
    int64_t cost = 0; // to make it again, ns; 0: unknown
    bool on_disk = false;
    /// It was read there, not put: what was put last may have been lost.
    bool from_disk = false;
  };

  /// shared: counts the uses, else the index does.
  explicit ObjectIndex(SharedRam* shared = nullptr) : shared_(shared) {}

  /// Null where there is none. Does not count as a use.
  const Entry* find(const ObjectKey& key) const;
  /// Counts a use.
  const Entry* use(const ObjectKey& key);
  /// The object was put, though it had been read from the disk before.
  void set_put(const ObjectKey& key);
  /// In place of what has the key, which is returned, to be freed later.
  Object put(const ObjectKey& key, Entry entry);
  /// The disk has it now. Nothing where the key has another object.
  void set_on_disk(const ObjectKey& key, const Object& object);
  /// The disk may have it no more, whatever it had of the key.
  void set_off_disk(const ObjectKey& key);
  /// Returned to be freed later; of no bytes where there is none.
  Object remove(const ObjectKey& key);

  struct Evicted {
    std::vector<Object> objects; // nobody else holds them
    Bytes held; // by them
    int64_t lost = 0; // of these, the disk does not have
  };
  enum class Take { kAllOrNothing, kWhatThereIs };
  /// Takes out the first to leave until they hold so many bytes.
  Evicted evict(Bytes wanted, Take take);

  /// What evict() would take out first, and of all that it could, so much as
  /// holds `most` bytes.
  std::optional<LeavingRam> next(uint64_t now) const;
  Bytes may_leave(Bytes most) const;

  int64_t size() const {
    return static_cast<int64_t>(entries_.size());
  }
  /// Objects that the disk has as well.
  int64_t on_disk() const {
    return on_disk_;
  }
  /// What the objects hold.
  Bytes bytes() const {
    return bytes_;
  }

 private:
  /// [only in RAM, rank, number of the last use]
  using Place = std::tuple<bool, double, uint64_t>;
  struct Kept {
    Entry entry;
    Place place;
  };
  using Entries = std::unordered_map<ObjectKey, Kept, ObjectKeyHash>;

  Place next_place(const Entry& entry);
  void list(Entries::value_type& item);
  /// The first to leave that hold so many bytes, or all that may.
  std::vector<Entries::value_type*> leaving(Bytes wanted) const;
  Object take(Entries::iterator at);

  SharedRam* const shared_;
  Entries entries_;
  std::set<std::pair<Place, Entries::value_type*>> order_;
  double rank_ = 0; // of what left last
  uint64_t uses_ = 0;
  int64_t on_disk_ = 0;
  Bytes bytes_;
};

} // namespace holdfast
