// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/objects/object_cache_core.h"

#include <cstring>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/objects/object_cache_share.h"

namespace holdfast {

namespace {

/// Smaller ones are copied off the disk: a mapping is an entry of the kernel's
/// tables and a lease in the folder, of which there are some ten thousands.
constexpr Bytes kLeastMapped{int64_t{64} << 10};

/// `kept` may lie in a mapped file.
bool same_bytes(const Object& kept, const Object& other) {
  return kept.size() == other.size() &&
      std::memcmp(
          kept.bytes().data(), other.bytes().data(), kept.bytes().size()) ==
      0 &&
      kept.intact();
}

} // namespace

/// A read of the disk, known to whoever puts or removes the key meanwhile.
class ObjectCache::Core::Read {
 public:
  Read(Core& core, const ObjectKey& key) : core_(core), key_(key) {
    const std::lock_guard lock(core_.mutex);
    ++core_.reading[key_].count;
  }
  ~Read() {
    const std::lock_guard lock(core_.mutex);
    const auto at = core_.reading.find(key_);
    if (--at->second.count == 0) {
      core_.reading.erase(at);
    }
  }
  Read(const Read&) = delete;
  Read& operator=(const Read&) = delete;

  /// Under the lock.
  bool overtaken() const {
    return core_.reading.at(key_).overtaken;
  }

 private:
  Core& core_;
  const ObjectKey& key_;
};

ObjectCache::Core::Disk::Disk(Core& core, const ObjectCacheOptions& options)
    : store(
          *options.disk,
          [&core](const ObjectKey& key) {
            std::optional<ObjectStore::InRam> found;
            const std::lock_guard lock(core.mutex);
            const ObjectIndex::Entry* entry = core.index.find(key);
            if (entry && !entry->from_disk) {
              found = {entry->object, entry->cost};
            }
            return found;
          },
          [&core](const ObjectKey& key, const Object& object) {
            const std::lock_guard lock(core.mutex);
            core.index.set_on_disk(key, object);
          }),
      queue({.clock = options.clock, .writers = options.writers}),
      durability(
          queue,
          store,
          store,
          {.clock = options.clock,
           .debounce = options.debounce,
           .max_delay = options.max_delay,
           .retry = options.retry,
           .stored = [&core](const RecordKey&) { core.shrink(); },
           .background = options.writers > 0}) {}

ObjectCache::Core::Core(ObjectCacheOptions given)
    : options(std::move(given)),
      budget(options.shared_ram ? Bytes(0) : options.ram),
      index(options.shared_ram.get()) {
  expect(
      options.ram >= Bytes(0) && options.clock,
      "[ObjectCache] expected a budget of 0 or more and a clock, got less");
  if (options.shared_ram) {
    share = std::make_unique<Share>(*this, options.shared_ram);
  }
  if (options.disk) {
    disk = std::make_unique<Disk>(*this, options);
  }
}

ObjectCache::Core::~Core() = default;

std::string ObjectCache::Core::use_text() const {
  const SharedRam* shared = options.shared_ram.get();
  const Bytes used = shared ? options.shared_ram->used() : budget.live();
  const Bytes limit = shared ? shared->limit() : budget.limit();
  return std::to_string(used.get()) + " of " + std::to_string(limit.get()) +
      " in use";
}

Bytes ObjectCache::Core::let_go(Bytes wanted, ObjectIndex::Take how) {
  ObjectIndex::Evicted gone; // freed after the lock
  const std::lock_guard lock(mutex);
  gone = index.evict(wanted, how);
  counted.lost += gone.lost;
  counted.dropped += std::ssize(gone.objects) - gone.lost;
  return gone.held;
}

bool ObjectCache::Core::make_room(Bytes more) {
  if (share) {
    return share->ask(more);
  }
  if (more > budget.limit()) {
    return false;
  }
  const Bytes lacking = budget.lacking(more);
  return lacking == Bytes(0) ||
      let_go(lacking, ObjectIndex::Take::kAllOrNothing) >= lacking;
}

void ObjectCache::Core::shrink() {
  if (share) {
    options.shared_ram->settle();
    return;
  }
  if (const Bytes lacking = budget.lacking(Bytes(0)); lacking > Bytes(0)) {
    let_go(lacking, ObjectIndex::Take::kWhatThereIs);
  }
}

const ObjectIndex::Entry*
ObjectCache::Core::use(const ObjectKey& key, Object& cut) {
  const ObjectIndex::Entry* entry = index.use(key);
  if (entry && !entry->object.intact()) {
    cut = index.remove(key);
    return nullptr;
  }
  return entry;
}

std::optional<Object> ObjectCache::Core::from_ram(const ObjectKey& key) {
  Object cut; // freed after the lock
  const std::lock_guard lock(mutex);
  const ObjectIndex::Entry* entry = use(key, cut);
  if (!entry) {
    return std::nullopt;
  }
  ++counted.from_ram;
  return entry->object;
}

std::optional<OpenObject> ObjectCache::Core::open(Bytes size) {
  do {
    if (std::optional<OpenObject> object = budget.open(size)) {
      return object;
    }
  } while (make_room(ObjectBudget::own_bytes(size)));
  return std::nullopt;
}

std::optional<Object> ObjectCache::Core::adopt(const MappedImage& image) {
  if (image.size() < kLeastMapped) {
    std::optional<OpenObject> copy = open(image.size());
    if (!copy) {
      return std::nullopt;
    }
    std::memcpy(
        copy->bytes().data(), image.bytes().data(), image.bytes().size());
    return Object(std::move(copy->bytes_), copy->size_, copy->held_);
  }
  do {
    if (auto object = budget.adopt(image.owner(), image.size())) {
      return object;
    }
  } while (make_room(ObjectBudget::foreign_bytes(image.size())));
  return std::nullopt;
}

std::optional<Object> ObjectCache::Core::from_disk(const ObjectKey& key) {
  if (!options.disk) {
    return std::nullopt;
  }
  const Read read(*this, key);
  const Result<MappedImage> stored = options.disk->object(key.space, key.key);
  if (!stored.ok()) {
    const std::lock_guard lock(mutex);
    counted.unreadable += stored.status().code() != ErrorCode::kNotFound;
    return std::nullopt;
  }
  const std::optional<Object> kept = adopt(stored.value());
  Object cut; // freed after the lock
  const std::lock_guard lock(mutex);
  if (const ObjectIndex::Entry* newer = use(key, cut)) {
    ++counted.from_disk;
    return newer->object;
  }
  if (!stored.value().intact()) { // a copy may be one of nothing
    ++counted.unreadable;
    return std::nullopt;
  }
  ++counted.from_disk;
  if (!kept) {
    return Object(
        stored.value().owner(),
        stored.value().size(),
        Bytes(0),
        Object::Memory::kMapped);
  }
  if (!read.overtaken()) {
    index.put(key, {.object = *kept, .on_disk = true, .from_disk = true});
  }
  return kept;
}

std::optional<Object> ObjectCache::Core::get(const ObjectKey& key) {
  std::optional<Object> found = from_ram(key);
  if (!found) {
    found = from_disk(key);
  }
  if (!found) {
    const std::lock_guard lock(mutex);
    ++counted.missed;
  }
  return found;
}

void ObjectCache::Core::overtake(const ObjectKey& key) {
  if (const auto at = reading.find(key); at != reading.end()) {
    at->second.overtaken = true;
  }
}

std::optional<Object> ObjectCache::Core::there(const ObjectKey& key) {
  Object cut; // freed after the lock
  const std::lock_guard lock(mutex);
  const ObjectIndex::Entry* entry = use(key, cut);
  return entry ? std::optional(entry->object) : std::nullopt;
}

Object ObjectCache::Core::put(
    const ObjectKey& key,
    const Object& object,
    int64_t cost) {
  const std::optional<Object> old = there(key);
  const bool again = old && same_bytes(*old, object); // without the lock
  Object gone; // freed after the lock
  std::unique_lock lock(mutex);
  const ObjectIndex::Entry* entry = index.find(key);
  const bool kept = again && entry && entry->object == *old;
  // To the coordinator; what the disk has it may have evicted since.
  const bool known = kept && !entry->from_disk && !entry->on_disk;
  if (kept) {
    index.set_put(key);
  } else {
    gone = index.put(key, {.object = object, .cost = cost});
    overtake(key);
  }
  lock.unlock();
  if (disk && !known) {
    disk->durability.put(record_key(key), {.attachments = true});
  }
  return kept ? *old : object;
}

Status ObjectCache::Core::remove(const ObjectKey& key, const Object* only) {
  Object old; // freed after the lock
  {
    const std::lock_guard lock(mutex);
    const ObjectIndex::Entry* entry = index.find(key);
    if (only && entry && !(entry->object == *only)) {
      return {};
    }
    old = index.remove(key);
    overtake(key);
  }
  if (!disk) {
    return {};
  }
  disk->durability.forget(record_key(key));
  const Status status =
      options.disk->remove_object(key.space, key.key).status();
  Object read; // from the disk meanwhile
  std::unique_lock lock(mutex);
  overtake(key);
  const ObjectIndex::Entry* entry = index.find(key);
  if (!entry) {
    return status;
  }
  if (entry->from_disk) {
    read = index.remove(key);
    return status;
  }
  // Put meanwhile: the coordinator may have forgotten it with the old one, and
  // the disk have lost it.
  index.set_off_disk(key);
  lock.unlock();
  disk->durability.put(record_key(key), {.attachments = true});
  return status;
}

std::vector<size_t> ObjectCache::Core::find_or_make(
    std::span<const ObjectKey> keys,
    std::span<const size_t> wanted,
    const Maker& make,
    Found& found) {
  Claims::Held held(claims);
  std::vector<size_t> others;
  std::vector<size_t> missing;
  for (const size_t i : wanted) {
    found[i] = from_ram(keys[i]);
    if (found[i]) {
      continue;
    }
    if (!held.take(keys[i])) {
      others.push_back(i);
      continue;
    }
    // Once more: who had the claim before may have made it.
    found[i] = get(keys[i]);
    if (found[i]) {
      held.end(keys[i], found[i]);
    } else {
      missing.push_back(i);
    }
  }
  if (!missing.empty()) {
    make_missing(keys, missing, make, held, found);
  }
  return others;
}

void ObjectCache::Core::make_missing(
    std::span<const ObjectKey> keys,
    std::span<const size_t> missing,
    const Maker& make,
    Claims::Held& held,
    Found& found) {
  std::vector<MadeObject> made = make(missing);
  expect(
      made.size() == missing.size(),
      "[ObjectCache] expected an object a missing key from its maker, got "
      "another number");
  for (size_t j = 0; j < missing.size(); ++j) {
    const size_t i = missing[j];
    if (OpenObject& open = made[j].object) {
      found[i] =
          put(keys[i],
              Object(std::move(open.bytes_), open.size_, open.held_),
              made[j].cost);
    }
    held.end(keys[i], found[i]);
  }
  const std::lock_guard lock(mutex);
  counted.made += std::ssize(missing);
}

} // namespace holdfast
