// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/objects/object_cache.h"

#include <numeric>
#include <string>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/objects/object_cache_core.h"

namespace holdfast {

namespace {

void require_key(const ObjectKey& key) {
  expect(
      !key.key.empty(),
      "[ObjectCache] expected a key of 1 byte or more, got "
      "an empty one");
}

/// [key] the index of the first that equals it.
std::vector<size_t> first_of_each(std::span<const ObjectKey> keys) {
  std::unordered_map<ObjectKey, size_t, ObjectKeyHash> first;
  std::vector<size_t> result;
  for (size_t i = 0; i < keys.size(); ++i) {
    require_key(keys[i]);
    result.push_back(first.try_emplace(keys[i], i).first->second);
  }
  return result;
}

} // namespace

ObjectCache::ObjectCache(ObjectCacheOptions options)
    : core_(std::make_unique<Core>(std::move(options))) {}

ObjectCache::~ObjectCache() = default;

OpenObject ObjectCache::open(Bytes size) {
  expect(
      size > Bytes(0),
      "[ObjectCache] expected an object of 1 byte or more, got less");
  if (std::optional<OpenObject> object = core_->open(size)) {
    return std::move(*object);
  }
  {
    const std::lock_guard lock(core_->mutex);
    ++core_->counted.no_room;
  }
  throw Error(
      ErrorCode::kOutOfBudget,
      "[ObjectCache] expected room for " + std::to_string(size.get()) +
          " bytes, got " + core_->use_text());
}

Object ObjectCache::put(const ObjectKey& key, OpenObject object, int64_t cost) {
  require_key(key);
  expect(
      static_cast<bool>(object) && cost >= 0,
      "[ObjectCache] expected an object and a cost of 0 or more, got less");
  return core_->put(
      key, Object(std::move(object.bytes_), object.size_, object.held_), cost);
}

std::optional<Object> ObjectCache::get(const ObjectKey& key) {
  require_key(key);
  return core_->get(key);
}

std::vector<std::optional<Object>>
ObjectCache::get_many(std::span<const ObjectKey> keys) {
  std::vector<std::optional<Object>> found;
  for (const ObjectKey& key : keys) {
    found.push_back(get(key));
  }
  return found;
}

std::vector<std::optional<Object>>
ObjectCache::get_or_make(std::span<const ObjectKey> keys, const Maker& make) {
  const std::vector<size_t> first = first_of_each(keys);
  std::vector<std::optional<Object>> found(keys.size());
  std::vector<size_t> wanted;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (first[i] == i) {
      wanted.push_back(i);
    }
  }
  while (!wanted.empty()) {
    const std::vector<size_t> others =
        core_->find_or_make(keys, wanted, make, found);
    wanted.clear();
    for (const size_t i : others) {
      found[i] = core_->claims.await(keys[i]);
      if (!found[i]) {
        wanted.push_back(i); // made by nobody: this call's turn
      }
    }
    const std::lock_guard lock(core_->mutex);
    core_->counted.awaited += std::ssize(others) - std::ssize(wanted);
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    found[i] = found[first[i]];
  }
  return found;
}

Status ObjectCache::remove(const ObjectKey& key) {
  require_key(key);
  return core_->remove(key);
}

void ObjectCache::unreadable(const ObjectKey& key, const Object& object) {
  {
    const std::lock_guard lock(core_->mutex);
    ++core_->counted.unreadable;
  }
  // Where the disk refuses, it is found unreadable again.
  std::ignore = core_->remove(key, &object);
}

FlushReport ObjectCache::flush(const FlushOptions& options) {
  if (core_->disk) {
    return core_->disk->durability.flush(options);
  }
  FlushReport report;
  const std::lock_guard lock(core_->mutex);
  report.durable = core_->index.size() == 0;
  return report;
}

void ObjectCache::set_budget(Bytes budget) {
  expect(
      budget >= Bytes(0),
      "[ObjectCache] expected a budget of 0 or more, got less");
  expect(
      !core_->options.shared_ram,
      "[ObjectCache::set_budget] expected a budget of its own, got a shared "
      "one");
  core_->budget.set_limit(budget);
  core_->shrink();
}

ObjectStats ObjectCache::stats() const {
  const std::lock_guard lock(core_->mutex);
  ObjectStats stats = core_->counted;
  stats.objects = core_->index.size();
  stats.on_disk = core_->index.on_disk();
  stats.kept = core_->index.bytes();
  stats.bytes = core_->budget.live();
  stats.budget = core_->budget.limit();
  return stats;
}

DurabilityStats ObjectCache::pending() const {
  return core_->disk ? core_->disk->durability.stats() : DurabilityStats{};
}

const Clock& ObjectCache::clock() const {
  return *core_->options.clock;
}

} // namespace holdfast
